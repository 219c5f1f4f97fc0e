# Writes expected.json from rows.csv. Run in this directory: Rscript make_expected.R
# Debian 12: apt-get install r-cran-rms r-cran-vgam r-cran-proc r-cran-jsonlite
suppressMessages({library(rms); library(VGAM); library(pROC)})
rows <- read.csv("rows.csv")

# Two classes: rms::val.prob for intercept and slope; glm for calibration in the large.
two <- val.prob(rows$p2, rows$y2, pl = FALSE)
lp <- qlogis(rows$p2)
large <- glm(rows$y2 ~ offset(lp), family = binomial)
joint <- glm(rows$y2 ~ lp, family = binomial)
wald <- function(fit) unname(cbind(coef(fit), confint.default(fit)))

# Three classes: the multinomial recalibration framework, relative to the first class.
P <- as.matrix(rows[, c("p3_0", "p3_1", "p3_2")])
LP <- log(P[, 2:3] / P[, 1])
y <- factor(rows$y3)
intercepts <- vglm(y ~ 1, offset = LP, family = multinomial(refLevel = 1),
                   epsilon = 1e-12)
data <- data.frame(y = y, lp1 = LP[, 1], lp2 = LP[, 2])
slopes <- vglm(y ~ lp1 + lp2, family = multinomial(refLevel = 1), data = data,
               constraints = list("(Intercept)" = diag(2), lp1 = cbind(c(1, 0)), lp2 = cbind(c(0, 1))),
               epsilon = 1e-12)
vwald <- function(fit) {
  error <- sqrt(diag(vcov(fit)))
  unname(cbind(coef(fit), coef(fit) - qnorm(0.975) * error, coef(fit) + qnorm(0.975) * error))
}
multiclass <- suppressMessages(multiclass.roc(y, `colnames<-`(P, levels(y))))
roc2 <- roc(rows$y2, rows$p2, quiet = TRUE)

version <- function(name) as.character(packageVersion(name))
result <- list(
  made_by = list(R = as.character(getRversion()), rms = version("rms"), VGAM = version("VGAM"),
                 pROC = version("pROC")),
  val_prob = as.list(two[c("Intercept", "Slope", "Brier")]),
  calibration_in_the_large = wald(large),
  intercept_and_slope = wald(joint),
  multinomial_in_the_large = vwald(intercepts),
  multinomial_intercepts_and_slopes = vwald(slopes),
  auc = as.numeric(auc(roc2)),
  auc_variance = var(roc2, method = "delong"),
  m_index = as.numeric(multiclass$auc)
)
write(jsonlite::toJSON(result, auto_unbox = TRUE, digits = 10, pretty = TRUE), "expected.json")

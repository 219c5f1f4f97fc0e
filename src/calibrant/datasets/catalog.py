"""The twelve data sets of the paper: their files, columns and merged classes."""

from __future__ import annotations

from dataclasses import dataclass, field

WHITE_SPACE = None


@dataclass(frozen=True)
class DataSetInfo:
    """Origin of a data set and layout of its raw files.

    Attributes
    ----------
    name : str
        Name by which the data set is loaded, and name of its folder.
    title : str
        Name of the data set at its source.
    files : dict of str to str
        SHA-256 by file name; rows are joined in this order. The checksum is that of the lines,
        each ending with LF, because copies differ in line endings and at the end of the file.
    archive : str or None
        Path of its archive at UCI. ``None`` means that it is not available from UCI.
    features : tuple of str
        Names of all columns except the target, in order. Columns whose name starts with "-" are
        dropped.
    target : tuple of int
        Positions of the target columns: one column of labels, or several indicators of which
        exactly one is 1.
    separator : str or None
        Column separator. ``None`` means any run of white space.
    header : bool
        Whether the first line of each file holds column names.
    merged : dict of str to str
        New names of raw classes; classes with the same new name become one class.
    dropped : tuple of str
        Raw classes whose rows are left out.
    categorical : tuple of str
        Unordered features, coded as 0, 1, ... in alphabetical order.
    source : str
        Origin of the data set.
    """

    name: str
    title: str
    files: dict[str, str]
    archive: str | None
    features: tuple[str, ...]
    target: tuple[int, ...] = (-1,)
    separator: str | None = ","
    header: bool = False
    merged: dict[str, str] = field(default_factory=dict)
    dropped: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    source: str = "UCI Machine Learning Repository"


def _numbered(prefix: str, count: int) -> tuple[str, ...]:
    return tuple(f"{prefix}{number}" for number in range(1, count + 1))


ABALONE_CLASSES = (
    {str(rings): "1-5" for rings in range(1, 6)}
    | {str(rings): "14-15" for rings in (14, 15)}
    | {str(rings): "16+" for rings in range(16, 30)}
)

CATALOG = {
    info.name: info
    for info in (
        DataSetInfo(
            name="abalone",
            title="Abalone",
            files={
                "abalone.data": "de37cdcdcaaa50c309d514f248f7c2302a5f1f88c168905eba23fe2fbc78449f"
            },
            archive="1/abalone.zip",
            features=(
                "sex",
                "length",
                "diameter",
                "height",
                "whole weight",
                "shucked weight",
                "viscera weight",
                "shell weight",
            ),
            merged=ABALONE_CLASSES,
            categorical=("sex",),
        ),
        DataSetInfo(
            name="contraceptive",
            title="Contraceptive Method Choice",
            files={"cmc.data": "ad2a49da55df24b061a994ecc4d90c856aba35acd05138851aa251c4f06303c9"},
            archive="30/contraceptive+method+choice.zip",
            features=(
                "wife's age",
                "wife's education",
                "husband's education",
                "children born",
                "wife's religion",
                "wife now working",
                "husband's occupation",
                "standard of living",
                "media exposure",
            ),
        ),
        DataSetInfo(
            name="development",
            title="Development Index",
            files={
                "Development Index.csv": (
                    "36382ca25ae72d7ecddfd3a5752b99e9bc070c7c67a9115faccf0f0b3cc3f3ab"
                )
            },
            archive=None,
            source='Kaggle, data set "Development Index"; figures of the CIA World Factbook',
            features=(
                "population",
                "area",
                "population density",
                "GDP per capita",
                "literacy",
                "infant mortality",
            ),
            header=True,
        ),
        DataSetInfo(
            name="ecoli",
            title="Ecoli",
            files={
                "ecoli.data": "008bd8fbb1d8b34040c3c8c4e987cac2a7ebf116e008b140cc6441be5261ba1d"
            },
            archive="39/ecoli.zip",
            features=("-sequence", "mcg", "gvh", "lip", "chg", "aac", "alm1", "alm2"),
            separator=WHITE_SPACE,
            merged={"imL": "im", "imS": "im", "imU": "im", "omL": "om"},
        ),
        DataSetInfo(
            name="forest",
            title="Forest type mapping",
            files={
                "training.csv": "d63da464655f4ec7c95bb310f560adecc7b716258bc379e4e0ca59f91a5ebf18",
                "testing.csv": "8f1dc6b2e437122f958d0ec96b81c32f5c175b57ad901de8fe4052e2443bd315",
            },
            archive="333/forest+type+mapping.zip",
            features=(
                *_numbered("b", 9),
                *_numbered("pred_minus_obs_H_b", 9),
                *_numbered("pred_minus_obs_S_b", 9),
            ),
            target=(0,),
            header=True,
        ),
        DataSetInfo(
            name="heart",
            title="Heart Disease (Cleveland)",
            files={
                "processed.cleveland.data": (
                    "a74b7efa387bc9d108d7d0115d831fe9b414b29ae7124f331b622b4efa0427c8"
                )
            },
            archive="45/heart+disease.zip",
            features=(
                "age",
                "sex",
                "cp",
                "trestbps",
                "chol",
                "fbs",
                "restecg",
                "thalach",
                "exang",
                "oldpeak",
                "slope",
                "ca",
                "thal",
            ),
        ),
        DataSetInfo(
            name="pendigits",
            title="Pen-Based Recognition of Handwritten Digits",
            files={
                "pendigits.tra": "e2b9eb9f0d0467e2b64a4816a3420edf2b8043447576f4b84337aba44a9f97d3",
                "pendigits.tes": "8bd03229c5c5291fefe43e45465dd948d2645bf23328b9d993e0b777666b2015",
            },
            archive="81/pen+based+recognition+of+handwritten+digits.zip",
            features=tuple(f"{axis}{point}" for point in range(1, 9) for axis in "xy"),
        ),
        DataSetInfo(
            name="seeds",
            title="seeds",
            files={
                "seeds_dataset.txt": (
                    "0cb5290e0daff65f26b7bb4d2f864a214751925037522c8cc7c5c4e71ce5cb90"
                )
            },
            archive="236/seeds.zip",
            features=(
                "area",
                "perimeter",
                "compactness",
                "kernel length",
                "kernel width",
                "asymmetry",
                "groove length",
            ),
            separator=WHITE_SPACE,
        ),
        DataSetInfo(
            name="steel",
            title="Steel Plates Faults",
            files={
                "Faults.NNA": "33e52f6612e79431996b241399453f1687b08d73ff8b82fb584ee491f40c5678"
            },
            archive="198/steel+plates+faults.zip",
            features=(
                "X_Minimum",
                "X_Maximum",
                "Y_Minimum",
                "Y_Maximum",
                "Pixels_Areas",
                "X_Perimeter",
                "Y_Perimeter",
                "Sum_of_Luminosity",
                "Minimum_of_Luminosity",
                "Maximum_of_Luminosity",
                "Length_of_Conveyer",
                "TypeOfSteel_A300",
                "TypeOfSteel_A400",
                "Steel_Plate_Thickness",
                "Edges_Index",
                "Empty_Index",
                "Square_Index",
                "Outside_X_Index",
                "Edges_X_Index",
                "Edges_Y_Index",
                "Outside_Global_Index",
                "LogOfAreas",
                "Log_X_Index",
                "Log_Y_Index",
                "Orientation_Index",
                "Luminosity_Index",
                "SigmoidOfAreas",
            ),
            target=tuple(range(-7, 0)),
            separator=WHITE_SPACE,
            merged={
                "1000000": "Pastry",
                "0100000": "Z_Scratch",
                "0010000": "K_Scatch",
                "0001000": "Stains",
                "0000100": "Dirtiness",
                "0000010": "Bumps",
                "0000001": "Other_Faults",
            },
        ),
        DataSetInfo(
            name="waveform",
            title="Waveform Database Generator (Version 1)",
            files={
                "waveform.data": "da332f3121943f586826f5d1b2cdd354548c59f71ddbf28c4d0c2eb623d7bfc3"
            },
            archive="107/waveform+database+generator+version+1.zip",
            features=_numbered("x", 21),
        ),
        DataSetInfo(
            name="wholesale",
            title="Wholesale customers",
            files={
                "Wholesale customers data.csv": (
                    "d0213b7d856bc7f98f2f52a86bedb5cb57d5b8e19959605e75bd4532d4ee0896"
                )
            },
            archive="292/wholesale+customers.zip",
            features=(
                "Channel",
                "Fresh",
                "Milk",
                "Grocery",
                "Frozen",
                "Detergents_Paper",
                "Delicassen",
            ),
            target=(1,),
            header=True,
        ),
        DataSetInfo(
            name="yeast",
            title="Yeast",
            files={
                "yeast.data": "7cf61776fc04f527f93bf57a327b863893a1225d82df02d457e8950173218258"
            },
            archive="110/yeast.zip",
            features=("-sequence", "mcg", "gvh", "alm", "mit", "erl", "pox", "vac", "nuc"),
            separator=WHITE_SPACE,
            dropped=("ERL",),
        ),
    )
}


def dataset_names() -> tuple[str, ...]:
    """Return the names of the data sets of the paper, in the order of the paper.

    Returns
    -------
    tuple of str
        Names that `load_dataset` accepts.
    """
    return tuple(CATALOG)


def find_dataset(name: str) -> DataSetInfo:
    """Return the catalog entry of a data set.

    Raises
    ------
    ValueError
        If the catalog has no such data set.
    """
    if name not in CATALOG:
        raise ValueError(
            f"The data set must be one of {', '.join(CATALOG)}, got {name!r}. "
            "Check the spelling, or read your own file with pandas.read_csv."
        )
    return CATALOG[name]

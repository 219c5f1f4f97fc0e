from calibrant.report.svg import Scale, element, picture


def test_elements_are_escaped_and_coordinates_are_short():
    assert element("text", "a < b", x=1.50, class_="tick", data_tip='"', y=None) == (
        '<text x="1.5" class="tick" data-tip="&#34;">a &lt; b</text>'
    )


def test_a_scale_maps_its_domain_to_pixels():
    scale = Scale((0.0, 2.0), (10.0, 20.0))
    assert [scale(value) for value in (0.0, 0.5, 2.0)] == [10.0, 12.5, 20.0]


def test_a_picture_is_labeled_for_screen_readers():
    drawn = picture(10, 20, "a <label>", "plot", [])
    assert 'role="img" aria-label="a &lt;label&gt;"' in drawn

"""Can every method be told from every other in the plot?"""

import pytest

from shoal.webapp.operator.overview import marks


@pytest.mark.parametrize("number", [1, 8, 12, 24, 64])
def test_no_two_methods_have_the_same_colour_and_shape(number: int) -> None:
    colours, shapes = marks(number)
    assert len(colours) == len(shapes) == number
    assert len(set(zip(colours, shapes, strict=True))) == number

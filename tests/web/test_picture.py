"""Pictures of a page with the element acted on, in real Chromium."""

import io

import pytest
from PIL import Image

from wr1_utils.web.loop import run

LONG = """<title>Long</title><body style="margin:0;background:#fff"><button style="position:absolute;left:40px;top:50px;width:100px;height:30px;background:#f00">Near</button>
<button style="position:absolute;left:200px;top:3000px;width:120px;height:40px;background:#00f;color:#00f;border:0">Far</button><label style="position:absolute;top:2500px">Low <select><option>one<option>two</select></label><div style="height:4000px"></div>
<script>window.heard = []; for (const e of ["scroll", "resize"]) addEventListener(e, () => heard.push(e));</script>"""


@pytest.mark.parametrize("label, colour", [("Near", (255, 0, 0)), ("Far", (0, 0, 255))])
def test_the_box_of_the_element_acted_on_is_where_it_stands_in_the_picture(browser, place, label, colour):
    """Also of one far below the viewport, to which the page is then scrolled as the action does it; it hears of nothing else."""
    async def look():
        episode = place.make(browser, "long-for-pictures", LONG)
        try:
            number = place.element(await episode.reset(), label).id
            picture = await episode.picture(place.reply("Click", number))
            page = episode._tab.page
            return picture, await page.evaluate("() => [scrollY, ...heard]")
        finally:
            await episode.close()
    picture, state = run(look(), timeout=60)
    image = Image.open(io.BytesIO(picture.jpeg))
    x, y, width, height = picture.box
    assert image.size == (1280, 720) and 0 <= y and y + height <= 720
    seen = image.getpixel((int(x) + 6, int(y) + 6))
    assert all(abs(one - other) < 40 for one, other in zip(seen, colour)), seen
    assert state == ([0] if label == "Near" else [3020 - 360, "scroll"])


def test_pictures_leave_the_episode_as_it_is_without_them(browser, place):
    """The page reads the same after the action, and stands at the same place, whether a picture was taken before it or not."""
    async def end(with_picture, action, label, argument=None):
        episode = place.make(browser, "long-for-pictures", LONG)
        try:
            reply = place.reply(action, place.element(await episode.reset(), label).id, argument)
            if with_picture:
                await episode.picture(reply)
            text = (await episode.step(reply)).observation.text
            return text, await episode._tab.page.evaluate("() => [scrollY, ...heard]")
        finally:
            await episode.close()
    for act in (("Click", "Far"), ("Hover", "Near"), ("Select Dropdown Option", "Low", "two")):
        assert run(end(True, *act), timeout=60) == run(end(False, *act), timeout=60)


def test_a_reply_without_an_element_has_a_picture_without_a_box(browser, place):
    async def look():
        episode = place.make(browser, "long-for-pictures", LONG)
        try:
            await episode.reset()
            return [await episode.picture(reply) for reply in ("no call at all", '<answer>exit(message="x")</answer>', place.reply("Click", 99))]
        finally:
            await episode.close()
    assert [picture.box for picture in run(look(), timeout=60)] == [None] * 3

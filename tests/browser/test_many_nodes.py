"""Five hundred nodes and five thousand connections: hands are answered while all of it is drawn and goes on changing.

Every key must do what it is for and be drawn in the very next frame, whatever comes in meanwhile, and all that comes in until then be drawn
together; and a frame may take only so many times as long as the lines alone take in the same page (`make bench-dashboard` has more sizes).
"""

import threading
from pathlib import Path

from playwright.sync_api import Browser, expect

from browsing import Looking, dashboard
from drawing import MOST, ratios, times, too_slow
from written import crowd

# Keys until so many changes have come in. Of each: whether it did what it is for, whether that was drawn in the next frame, draws in that frame.
ANSWERS = """async () => {
  const { map, network } = ropewalk, draw = map.draw, answers = [];
  let drawn, draws = 0, changes = 0;
  const seen = () => JSON.stringify([map.selected, map.zoom]);
  const count = () => { changes += 1; };
  map.draw = function (now) { draw.call(map, now); draws += 1; drawn = seen(); };
  network.addEventListener("change", count);
  map.canvas.focus();
  while (changes < 10 || answers.length < 28) {
    for (const key of ["Escape", "ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp", "+", "-"]) {
      const before = seen();
      draws = 0;
      map.canvas.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
      const after = seen();
      const did = key === "Escape" ? map.selected === undefined : after !== before;
      await new Promise((done) => requestAnimationFrame(() => { answers.push([key, did, drawn === after, draws]); setTimeout(done); }));
    }
  }
  network.removeEventListener("change", count);
  map.draw = draw;
  return answers;
}"""


def test_hands_are_answered_while_everything_is_drawn(browser: Browser, tmp_path: Path) -> None:
    town = crowd(tmp_path / "live")
    done = threading.Event()

    def go_on() -> None:
        turn = 0
        while not done.wait(0.02):  # fifty changes a second
            turn += 1
            town.hold(turn % 400, 100 + turn % 20, [(turn * 7) % 500, (turn * 13) % 500])
            if turn % 10 == 0:
                town.event(10_000 + turn, 100 + turn % 20, [(0, 1), (1, 2), (2, 3)])

    with dashboard(town.folder) as url:
        looking = Looking(browser, url)
        looking.until("ropewalk.network.nodes.size === 500 && ropewalk.network.links.size === 5000")
        expect(looking.page.locator("#total-links")).to_have_text("5,000")
        writing = threading.Thread(target=go_on)
        writing.start()
        try:
            answers = looking.js(ANSWERS)
            looking.page.locator("#topics li").nth(3).click()
            looking.until("ropewalk.network.overlay.size > 0")
            looking.page.locator("#events button").first.click()
            expect(looking.page.locator("#event-steps tr")).to_have_count(3)
        finally:
            done.set()
            writing.join()
        assert [key for key, did, _, _ in answers if not did] == []
        assert [key for key, _, shown, _ in answers if not shown] == []
        assert {draws for *_, draws in answers} == {1}
        assert looking.complaints == []
        looking.close()


SLOW = """() => {
  const { map } = ropewalk, draw = map.draw;
  map.draw = function (now) { for (const begun = performance.now(); performance.now() - begun < 200; ); draw.call(map, now); };
}"""


def test_drawing_takes_only_so_much_longer_than_lines_alone(browser: Browser, tmp_path: Path) -> None:
    town = crowd(tmp_path / "live")
    with dashboard(town.folder) as url:
        looking = Looking(browser, url)
        looking.until(
            "ropewalk.network.links.size === 5000 && ropewalk.network.overlay.size > 0 && !ropewalk.map.frame"
        )
        assert too_slow(ratios(times(looking))) == {}
        looking.js(SLOW)
        assert too_slow(ratios(times(looking, turns=3))).keys() == MOST.keys()  # this would be noticed
        looking.close()


def test_what_is_sent_is_what_has_changed(browser: Browser, tmp_path: Path) -> None:
    town = crowd(tmp_path / "live")
    with dashboard(town.folder) as url:
        looking = Looking(browser, url)
        looking.until("ropewalk.network.links.size === 5000")
        looking.js(
            "() => { window.told = []; ropewalk.network.addEventListener('change', ({detail}) => window.told.push(detail)); }"
        )
        looking.until("window.told.length > 0 && !window.told.at(-1).nodes")  # places have settled
        looking.js("() => { window.told.length = 0; }")
        town.follow(7, 119)
        looking.until("window.told.some((told) => told.nodes?.some(([, row]) => row[1] === 'n7'))")
        told = looking.js("window.told.filter((told) => told.nodes).map((told) => [told.whole, told.nodes.length])")
        assert told == [[False, 1]]
        looking.close()

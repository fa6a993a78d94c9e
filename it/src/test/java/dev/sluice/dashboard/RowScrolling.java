package dev.sluice.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Locale;

/** Scrolls through a list that is too long to exist in a page as a whole. */
final class RowScrolling {

  private RowScrolling() {}

  /**
   * Scrolls to the end of the list on the page in 100 steps, prints how long frames took, and
   * expects the last row there, and few rows in the page.
   */
  static void through(Chromium browser, int rows) {
    JsonNode frames =
        browser.evaluate(
            """
            (async () => {
              const times = [];
              const end = document.documentElement.scrollHeight - innerHeight;
              let before = performance.now();
              for (let step = 1; step <= 100; step++) {
                scrollTo(0, end * step / 100);
                await new Promise(requestAnimationFrame);
                times.push(performance.now() - before);
                before = performance.now();
              }
              times.sort((a, b) => a - b);
              return {median: times[50], most: times[99], end};
            })()
            """);
    System.out.printf(
        Locale.ROOT,
        "dashboard: %,d rows in 100 steps over %,d pixels: a frame took %.0f ms (median), %.0f ms"
            + " (longest)%n",
        rows,
        frames.path("end").asInt(),
        frames.path("median").asDouble(),
        frames.path("most").asDouble());
    assertThat(frames.path("end").asInt()).isGreaterThan(50 * rows);
    browser.await(
        "[...document.querySelectorAll('a.row')].some(r => r.ariaRowIndex === '%d')"
            .formatted(rows + 1));
    assertThat(browser.evaluate("document.querySelectorAll('.row').length").asInt())
        .as("rows that exist")
        .isLessThan(80);
  }
}

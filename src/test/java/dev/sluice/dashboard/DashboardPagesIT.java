package dev.sluice.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The pages in a real browser, with a played cluster of 10 and of 10,000 Workloads. */
class DashboardPagesIT {

  /** Where pictures go; those of the documentation to {@code docs/images}, to renew them. */
  private static final Path IMAGES = Path.of("target", "dashboard");

  private static final Path DOCUMENTED =
      Path.of(System.getProperty("sluice.dashboard.images", IMAGES.toString()));

  private static final Set<String> IN_DOCUMENTATION = Set.of("cohorts", "workload");

  private static void logIn(Chromium browser, PlayedDashboard dashboard, String token) {
    browser.open(dashboard.address());
    browser.await("document.getElementById('token')");
    browser.evaluate("document.getElementById('token').focus()");
    browser.type(token);
    browser.press("Enter");
  }

  @Test
  void picturesOfAllPages() throws Exception {
    try (PlayedDashboard dashboard = new PlayedDashboard(10_000);
        Chromium browser = Chromium.startOrSkip()) {
      logIn(browser, dashboard, "admin");
      browser.awaitText("Cohorts and queues");
      String[][] pages = {
        {"cohorts", "#/", "vision-train"},
        {"queues", "#/queues", "LocalQueues"},
        {"queue", "#/queue/vision-train", "nvidia.com/gpu"},
        {"workloads", "#/workloads", "10,000 found"},
        {"workload", "#/workload/team-a/job-train-00000", "What it waits for"},
        {"workers", "#/clusters", "Connected"}
      };
      for (String[] page : pages) {
        browser.evaluate("location.hash = '" + page[1] + "'");
        browser.awaitText(page[2]);
        browser.await("!document.querySelector('.rows') || document.querySelector('.rows a.row')");
        for (boolean dark : new boolean[] {false, true}) {
          for (int width : new int[] {1280, 390}) {
            browser.show(width, width == 390 ? 844 : 860, dark);
            browser.evaluate("new Promise(done => setTimeout(done, 400))");
            assertThat(browser.evaluate("document.documentElement.scrollWidth").asInt())
                .as("width of " + page[0])
                .isLessThanOrEqualTo(width);
            browser.picture(
                (IN_DOCUMENTATION.contains(page[0]) ? DOCUMENTED : IMAGES)
                    .resolve(
                        "dashboard-%s-%s-%s.png"
                            .formatted(
                                page[0],
                                width == 390 ? "narrow" : "wide",
                                dark ? "dark" : "light")));
          }
        }
      }
      assertThat(browser.complaints()).isEmpty();
    }
  }
}

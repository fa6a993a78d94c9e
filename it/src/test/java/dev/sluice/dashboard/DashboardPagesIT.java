package dev.sluice.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testing.BuildBreadth;
import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The pages in a real browser, with a played cluster of 10 and of 10,000 Workloads. */
@Tag(BuildBreadth.NIGHTLY)
class DashboardPagesIT {

  /** Where pictures go; those of the documentation to {@code docs/images}, to renew them. */
  private static final Path IMAGES = Path.of("target", "dashboard");

  private static final Path DOCUMENTED =
      Path.of(System.getProperty("sluice.dashboard.images", IMAGES.toString()));

  private static final Set<String> IN_DOCUMENTATION = Set.of("cohorts", "workload", "topology");

  private static void logIn(Chromium browser, PlayedDashboard dashboard, String token) {
    browser.open(dashboard.address());
    browser.await("document.getElementById('token')");
    browser.evaluate("document.getElementById('token').focus()");
    browser.type(token);
    browser.press("Enter");
  }

  @Test
  void tenThousandRowsScrollAndKeysLead() throws Exception {
    try (PlayedDashboard dashboard = new PlayedDashboard(10_000);
        Chromium browser = Chromium.startOrSkip()) {
      browser.show(1280, 860, false);
      logIn(browser, dashboard, "stranger");
      browser.awaitText("This token is not valid in this cluster.");
      assertThat(browser.evaluate("sessionStorage.length").asInt()).isZero();

      logIn(browser, dashboard, "admin");
      browser.awaitText("Cohorts and queues");
      browser.press("g");
      browser.press("w");
      browser.awaitText("10,000 found");
      RowScrolling.through(browser, 10_000);

      browser.evaluate("scrollTo(0, 0)");
      browser.await("document.querySelector('a.row[aria-rowindex=\"2\"]')");
      browser.press("j");
      browser.press("j");
      browser.await("document.activeElement.getAttribute('aria-rowindex') === '3'");
      browser.press("Enter");
      browser.awaitText("Time line");
      browser.press("/");
      browser.await("document.activeElement.id === 'search'");
      browser.type("team-b train 00025");
      browser.press("Enter");
      browser.awaitText("1 found");
      assertThat(browser.complaints()).isEmpty();
    }
  }

  @Test
  void tenWorkloadsAndOneMoreWithoutAReload() throws Exception {
    try (PlayedDashboard dashboard = new PlayedDashboard(10);
        Chromium browser = Chromium.startOrSkip()) {
      browser.show(390, 844, true);
      logIn(browser, dashboard, "tenant");
      browser.awaitText("Your queues");
      assertThat(browser.text()).contains("team-a/ci").doesNotContain("team-b");
      browser.evaluate("location.hash = '#/workloads'");
      browser.awaitText("5 found");
      browser.await("document.querySelector('.live.on')");
      dashboard.add("team-b", "job-hidden");
      dashboard.add("team-a", "job-<img src=x onerror=alert(1)>");
      browser.awaitText("6 found");
      browser.awaitText("<img src=x onerror=alert(1)>");
      assertThat(browser.evaluate("document.querySelectorAll('img').length").asInt()).isZero();
      assertThat(browser.text()).doesNotContain("hidden");
      browser.press("t");
      browser.await("document.documentElement.dataset.theme === 'light'");
      browser.evaluate("document.querySelector('.user summary').click()");
      browser.evaluate("[...document.querySelectorAll('.user button')].at(-1).click()");
      browser.await("document.getElementById('token')");
      assertThat(browser.evaluate("sessionStorage.length").asInt()).isZero();
      assertThat(browser.complaints()).isEmpty();
    }
  }

  @Test
  void startsAreToldInListsOnPagesAndOnATimeLine() throws Exception {
    try (PlayedDashboard dashboard = new PlayedDashboard(100);
        Chromium browser = Chromium.startOrSkip()) {
      logIn(browser, dashboard, "admin");
      browser.awaitText("Cohorts and queues");
      for (boolean dark : new boolean[] {false, true}) {
        for (int width : new int[] {1280, 390}) {
          browser.show(width, width == 390 ? 844 : 860, dark);
          browser.evaluate("location.hash = '#/queue/vision-train'");
          browser.awaitText("Planned");
          browser.await("document.querySelectorAll('.plan-row svg .plan-range').length > 1");
          browser.await("document.querySelectorAll('.plan-promise').length === 2");
          browser.await("document.querySelectorAll('.plan-promise.late').length === 1");
          browser.awaitText("back-fills behind 2 planned starts, a run without a limit waits");
          browser.await("document.querySelector('.rows a.row .starts')");
          browser.awaitText("in 59 min");
          assertThat(browser.evaluate("document.documentElement.scrollWidth").asInt())
              .isLessThanOrEqualTo(width);
          browser.picture(
              IMAGES.resolve(
                  "dashboard-starts-%d-%s.png".formatted(width, dark ? "dark" : "light")));
        }
      }
      browser.show(1280, 860, false);
      assertThat(
              browser
                  .evaluate("[...document.querySelectorAll('.rows a.row .starts')][0].textContent")
                  .asText())
          .startsWith("in ");
      browser.evaluate("document.querySelector('a.plan-row').click()");
      browser.awaitText("Expected start");
      browser.awaitText("by learned run times");
      browser.awaitText("planned to start by ");
      browser.awaitText("Planned start");
      browser.evaluate("history.back()");
      browser.awaitText("back-fills behind");
      browser.evaluate("document.querySelectorAll('a.plan-row')[2].click()");
      browser.awaitText("may run before it if it starts by");
      browser.awaitText("Comes first: team-a/job-");
      browser.picture(IMAGES.resolve("dashboard-planned-start.png"));
      assertThat(browser.complaints()).isEmpty();
    }
  }

  @Test
  void budgetsTheBillAndTheCalendarAreShownToWhoMayReadThem() throws Exception {
    try (PlayedDashboard dashboard = new PlayedDashboard(10);
        Chromium browser = Chromium.startOrSkip()) {
      dashboard.addHeld("team-a", "job-held");
      logIn(browser, dashboard, "admin");
      browser.awaitText("Cohorts and queues");
      browser.press("g");
      browser.press("b");
      browser.awaitText("Held: 1");
      assertThat(browser.text())
          .contains("80 % spent, 250 left", "250 reserved", "Exhausted", "needs 300")
          .contains("It counts nothing: spec.scope: nothing", "<b>odd</b>");
      browser.press("g");
      browser.press("u");
      browser.awaitText("cost in EUR");
      assertThat(browser.text()).contains("118.70", "384.00", "1.50");
      browser.await("document.querySelectorAll('.past svg path').length === 2");
      browser.evaluate(
          "const shown = document.querySelectorAll('.choices select')[1];"
              + " shown.value = 'nvidia.com/gpu'; shown.dispatchEvent(new Event('change'))");
      browser.await("document.querySelectorAll('.past svg path').length === 1");
      browser.evaluate(
          "const by = document.querySelector('.choices select'); by.value = 'namespace';"
              + " by.dispatchEvent(new Event('change'))");
      browser.await("document.querySelector('.usage th').textContent === 'Namespace'");
      browser.press("g");
      browser.press("l");
      browser.awaitText("8 nvidia.com/gpu of a100");
      browser.await("document.querySelectorAll('.kept-reservation').length === 2");
      browser.await("document.querySelectorAll('.kept-maintenance').length === 1");
      assertThat(browser.text())
          .contains("course/students, class demo", "lent while unused", "nobody")
          .contains("broken: no such class", "quota at factor 0.5", "everybody");
      browser.await("document.querySelectorAll('.kept-quota').length === 1");
      browser.picture(IMAGES.resolve("dashboard-calendar.png"));

      browser.evaluate("sessionStorage.clear()");
      logIn(browser, dashboard, "tenant");
      browser.awaitText("Your queues");
      assertThat(browser.text()).doesNotContain("Budgets").doesNotContain("Calendar");
      browser.evaluate("location.hash = '#/budgets'");
      browser.awaitText("you may not list budgets here");
      assertThat(browser.complaints()).isEmpty();
    }
  }

  @Test
  void theLastHoursOfAQueueAreDrawn() throws Exception {
    try (PlayedDashboard dashboard = new PlayedDashboard(100);
        Chromium browser = Chromium.startOrSkip()) {
      logIn(browser, dashboard, "admin");
      browser.awaitText("Cohorts and queues");
      browser.evaluate("location.hash = '#/queue/vision-train'");
      browser.awaitText("The last hours");
      for (boolean dark : new boolean[] {false, true}) {
        for (int width : new int[] {1280, 390}) {
          browser.show(width, width == 390 ? 844 : 860, dark);
          browser.await("document.querySelectorAll('.past svg path').length === 4");
          assertThat(
                  browser
                      .evaluate(
                          "[...document.querySelectorAll('.past svg path')]"
                              + ".every(each => each.getBBox().height > 5"
                              + " && each.getBBox().width > 550)")
                      .asBoolean())
              .as("each is drawn over the whole time")
              .isTrue();
          assertThat(browser.evaluate("document.documentElement.scrollWidth").asInt())
              .isLessThanOrEqualTo(width);
          browser.evaluate("document.querySelector('.pasts').scrollIntoView()");
          browser.picture(
              IMAGES.resolve("dashboard-past-%d-%s.png".formatted(width, dark ? "dark" : "light")));
        }
      }
      assertThat(
              browser
                  .evaluate("document.querySelector('.past svg').getAttribute('aria-label')")
                  .asText())
          .startsWith("waiting: ");
      assertThat(browser.complaints()).isEmpty();
    }
  }

  @Test
  void eventsPodsAndYamlComeWithAClick() throws Exception {
    try (PlayedDashboard dashboard = new PlayedDashboard(10);
        Chromium browser = Chromium.startOrSkip()) {
      browser.show(1280, 860, false);
      logIn(browser, dashboard, "admin");
      browser.awaitText("Cohorts and queues");
      browser.evaluate("location.hash = '#/workload/team-a/job-train-00000'");
      browser.awaitText("Show events, pods and YAML");
      browser.awaitText("kubectl describe workload job-train-00000 -n team-a");
      assertThat(dashboard.objects().askedWith("admin")).isEmpty();
      String click =
          "[...document.querySelectorAll('button')].find(each =>"
              + " /^(Show|Read)/.test(each.textContent)).click()";
      browser.evaluate(click);
      browser.awaitText("ImagePullBackOff");
      browser.awaitText("<b>Quota</b> reserved in ClusterQueue vision-train");
      browser.awaitText("queueName: vision-train");
      for (boolean dark : new boolean[] {false, true}) {
        for (int width : new int[] {1280, 390}) {
          browser.show(width, width == 390 ? 844 : 860, dark);
          browser.evaluate("document.querySelector('.yaml').closest('section').scrollIntoView()");
          assertThat(browser.evaluate("document.documentElement.scrollWidth").asInt())
              .isLessThanOrEqualTo(width);
          browser.picture(
              IMAGES.resolve(
                  "dashboard-cluster-%d-%s.png".formatted(width, dark ? "dark" : "light")));
        }
      }
      browser.show(1280, 860, false);
      browser.evaluate("location.hash = '#/flavors'");
      browser.awaitText("kubectl get nodes -l pool=spot");
      browser.evaluate(click);
      browser.awaitText("5 nodes, 1 ready");
      browser.picture(IMAGES.resolve("dashboard-nodes.png"));
      assertThat(browser.complaints()).isEmpty();
    }
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
        {"flavors", "#/flavors", "spot=true:NoSchedule"},
        {"topologies", "#/topology", "block-b"},
        {"topology", "#/topology/a100/block-b", "rack-1-05"},
        {"budgets", "#/budgets", "Exhausted"},
        {"usage", "#/usage", "30 days and today"},
        {"calendar", "#/calendar", "rack-7"},
        {"workers", "#/clusters", "Connected"}
      };
      for (String[] page : pages) {
        browser.evaluate("location.hash = '" + page[1] + "'");
        browser.awaitText(page[2]);
        // long lists have only the rows that are seen
        browser.evaluate("document.querySelector('.rows')?.scrollIntoView()");
        browser.await("!document.querySelector('.rows') || document.querySelector('.rows a.row')");
        browser.evaluate("window.scrollTo(0, 0)");
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

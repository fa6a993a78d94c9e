package dev.sluice.lab.demo;

import java.io.PrintWriter;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Prints one line per event: for files, pipes and logs. */
final class PlainScreen implements Screen {

  private static final long REFRESH_MILLIS = 250;

  private final PrintWriter out;
  private final Dashboard dashboard;
  private final InstantSource clock;
  private final Instant begin;
  private final Set<String> shown = new HashSet<>();
  private final ScheduledExecutorService refresh = Executors.newSingleThreadScheduledExecutor();
  private int eventsShown;

  PlainScreen(PrintWriter out, Dashboard dashboard, InstantSource clock) {
    this.out = out;
    this.dashboard = dashboard;
    this.clock = clock;
    this.begin = clock.instant();
    refresh.scheduleWithFixedDelay(
        this::refresh, REFRESH_MILLIS, REFRESH_MILLIS, TimeUnit.MILLISECONDS);
  }

  @Override
  public void say(String line) {
    line("story", line);
  }

  @Override
  public void judged(ExpectationResult expectationResult) {
    line("expect", expectationResult.toString());
  }

  private synchronized void refresh() {
    for (Dashboard.Section section : dashboard.sections()) {
      section.lines().forEach(line -> once(section.tag(), line));
    }
    List<String> told = dashboard.events();
    for (; eventsShown < told.size(); eventsShown++) {
      line("event", told.get(eventsShown));
    }
  }

  private void once(String what, String line) {
    if (shown.add(line)) {
      line(what, line);
    }
  }

  private synchronized void line(String what, String line) {
    long millis = Duration.between(begin, clock.instant()).toMillis();
    out.printf("%6.1f %-6s %s%n", millis / 1000.0, what, line);
    out.flush();
  }

  @Override
  public void close() {
    refresh.shutdownNow();
    refresh();
  }
}

package dev.sluice.lab.demo;

import dev.sluice.lab.demo.PolicyTrial.TrialJob;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * What the same Jobs waited under several policies: a table, and what it means in plain English. A
 * function of what was seen.
 *
 * @param policies in the order of the columns
 */
public record PolicyFigures(List<Policy> policies) {

  /** The size from which a Job is called big, in CPUs. */
  static final int BIG = 8;

  private static final int SMALL = 1;

  /** How long a Job must have waited to count as passed: what came later may not be known yet. */
  private static final Duration KNOWN = Duration.ofSeconds(4);

  /** Decisions of one moment are written, and seen, in any order within this time. */
  private static final Duration TOGETHER = Duration.ofSeconds(2);

  /** Copies the list. */
  public PolicyFigures {
    policies = List.copyOf(policies);
  }

  /**
   * A policy and what became of its Jobs, each of which has got quota.
   *
   * @param name as the configuration calls it
   */
  public record Policy(String name, List<TrialJob> jobs) {

    /** Copies the list. */
    public Policy {
      jobs = List.copyOf(jobs);
    }

    /** The mean wait of some of the Jobs, in seconds; 0 if there are none. */
    public double mean(Predicate<TrialJob> which) {
      return jobs.stream().filter(which).mapToDouble(PolicyFigures::seconds).average().orElse(0);
    }

    private double longest(Predicate<TrialJob> which) {
      return jobs.stream().filter(which).mapToDouble(PolicyFigures::seconds).max().orElse(0);
    }

    /** The seconds from the first Job's creation until the last one's end. */
    public double whole() {
      Instant first = jobs.stream().map(TrialJob::created).min(Comparator.naturalOrder()).get();
      return Duration.between(
                  first,
                  jobs.stream()
                      .flatMap(each -> each.finished().stream())
                      .max(Comparator.naturalOrder())
                      .orElse(first))
              .toMillis()
          / 1000.0;
    }

    /**
     * How often a Job was given quota while one before it in the queue's order had waited for 4 s,
     * and went on waiting.
     */
    public long passed() {
      return jobs.stream()
          .mapToLong(late -> jobs.stream().filter(early -> isPassed(early, late)).count())
          .sum();
    }

    private static boolean isPassed(TrialJob early, TrialJob late) {
      Instant given = late.reserved().orElseThrow();
      boolean before =
          early.priority() > late.priority()
              || (early.priority() == late.priority() && early.second().isBefore(late.second()));
      return before
          && early.created().plus(KNOWN).isBefore(given)
          && early.reserved().orElseThrow().isAfter(given.plus(TOGETHER));
    }
  }

  private static double seconds(TrialJob each) {
    return Duration.between(each.created(), each.reserved().orElseThrow()).toMillis() / 1000.0;
  }

  /** Jobs of at least {@link #BIG} CPUs. */
  public static boolean isBig(TrialJob each) {
    return each.cpus() >= BIG;
  }

  private static boolean isSmall(TrialJob each) {
    return each.cpus() == SMALL;
  }

  /** The table: mean waits by size and priority, with the longest in brackets. */
  public List<String> table() {
    List<String> lines = new ArrayList<>();
    List<String> head = new ArrayList<>(List.of("cpus", "priority", "jobs"));
    policies.forEach(policy -> head.add(policy.name()));
    lines.add(line(head));
    policies.getFirst().jobs().stream()
        .map(each -> List.of(each.cpus(), each.priority()))
        .distinct()
        .sorted(
            Comparator.comparing((List<Integer> each) -> each.getFirst())
                .thenComparing(each -> -each.getLast()))
        .forEach(
            kind -> {
              Predicate<TrialJob> which =
                  each -> each.cpus() == kind.getFirst() && each.priority() == kind.getLast();
              List<String> cells = new ArrayList<>();
              kind.forEach(each -> cells.add(each.toString()));
              cells.add(Long.toString(policies.getFirst().jobs().stream().filter(which).count()));
              policies.forEach(
                  policy ->
                      cells.add(
                          number(policy.mean(which)) + " (" + number(policy.longest(which)) + ")"));
              lines.add(line(cells));
            });
    lines.add(row("until all had ended", policy -> number(policy.whole())));
    lines.add(row("passed by one behind it", policy -> Long.toString(policy.passed())));
    return lines;
  }

  private String row(String what, Function<Policy, String> figure) {
    StringBuilder line = new StringBuilder(String.format(Locale.ROOT, "%-26s", what));
    policies.forEach(policy -> line.append(cell(figure.apply(policy))));
    return line.toString().stripTrailing();
  }

  private static String line(List<String> cells) {
    StringBuilder line = new StringBuilder();
    line.append(
        String.format(Locale.ROOT, "%4s  %-10s%-10s", cells.get(0), cells.get(1), cells.get(2)));
    cells.subList(3, cells.size()).forEach(each -> line.append(cell(each)));
    return line.toString().stripTrailing();
  }

  private static String cell(String text) {
    return String.format(Locale.ROOT, "%-18s", text);
  }

  /** What the figures say, a sentence each; the first policy is compared with the second. */
  public List<String> words() {
    Policy round = policies.get(0);
    Policy block = policies.get(1);
    double bigRound = round.mean(PolicyFigures::isBig);
    double bigBlock = block.mean(PolicyFigures::isBig);
    double smallRound = round.mean(PolicyFigures::isSmall);
    double smallBlock = block.mean(PolicyFigures::isSmall);
    List<String> words = new ArrayList<>();
    words.add(
        "Jobs of %d CPUs waited %s s on average with %s and %s s with %s: %s."
            .formatted(
                BIG,
                number(bigRound),
                round.name(),
                number(bigBlock),
                block.name(),
                bigRound > bigBlock
                    ? "they starve (%s times as long) while small ones take what comes free, and don't where the first one blocks"
                        .formatted(number(bigRound / bigBlock))
                    : "this time they did not starve"));
    words.add(
        "Small Jobs waited %s s with %s and %s s with %s: %s."
            .formatted(
                number(smallRound),
                round.name(),
                number(smallBlock),
                block.name(),
                smallRound < smallBlock
                    ? "they pay for it where the first one blocks"
                    : "they gain nothing by passing"));
    policies.forEach(
        policy ->
            words.add(
                policy.passed() == 0
                    ? "With %s no Job was passed by one behind it.".formatted(policy.name())
                    : "With %s a Job was passed %d times by one behind it in the queue."
                        .formatted(policy.name(), policy.passed())));
    words.add(
        "All %d Jobs took %s: %s."
            .formatted(
                round.jobs().size(),
                String.join(
                    ", ",
                    policies.stream()
                        .map(policy -> number(policy.whole()) + " s with " + policy.name())
                        .toList()),
                block.whole() > round.whole()
                    ? "CPUs stay idle while a big Job waits at the head of a queue that blocks"
                    : "the CPUs that a blocked head keeps idle cost no time here"));
    return words;
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%.1f", value);
  }
}

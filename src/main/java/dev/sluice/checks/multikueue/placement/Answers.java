package dev.sluice.checks.multikueue.placement;

import dev.sluice.checks.multikueue.placement.Local.Check;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * What each worker says of a Workload that none has admitted yet, as one text that changes only
 * when an answer does: there are no counts and no ages in it.
 */
public final class Answers {

  /** What stands between the answers of two workers. */
  public static final String BETWEEN = "; ";

  private static final int LONGEST = 1000;

  private Answers() {}

  /** The text; empty while nobody is asked, or when there is nothing to wait for any more. */
  public static String of(Local local, Candidates candidates, Map<String, Remote> remotes) {
    boolean waits =
        !local.over()
            && local.reserving()
            && !local.evicted()
            && local.othersReady()
            && local.check() == Check.PENDING
            && local.job() instanceof Local.Sendable.Yes;
    if (!waits) {
      return "";
    }
    if (candidates.configured().isEmpty()) {
      return "No worker cluster is configured";
    }
    String each =
        candidates.configured().stream()
            .map(name -> name + ": " + answer(name, local, candidates, remotes))
            .collect(Collectors.joining(BETWEEN));
    return candidates.allowed().isEmpty() ? "No worker cluster is allowed" + BETWEEN + each : each;
  }

  private static String answer(
      String name, Local local, Candidates candidates, Map<String, Remote> remotes) {
    Optional<String> excluded = Optional.ofNullable(candidates.excluded().get(name));
    if (excluded.isPresent()) {
      return excluded.get();
    }
    Optional<Remote> remote = Optional.ofNullable(remotes.get(name));
    if (remote.filter(Remote::connected).isEmpty()) {
      return remote
          .flatMap(Remote::lostSince)
          .map(since -> "not connected since " + since.truncatedTo(ChronoUnit.SECONDS))
          .orElse("not connected");
    }
    return remote
        .flatMap(Remote::copy)
        .map(copy -> shortened(copy.tells()))
        .orElse(local.nominated().contains(name) ? "is being asked" : "not asked yet");
  }

  private static String shortened(String text) {
    return text.length() <= LONGEST ? text : text.substring(0, LONGEST) + "…";
  }
}

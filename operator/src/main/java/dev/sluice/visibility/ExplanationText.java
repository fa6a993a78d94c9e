package dev.sluice.visibility;

import dev.sluice.api.Quantities;
import dev.sluice.core.engine.PendingPosition;
import dev.sluice.core.engine.SchedulerQueries.BackfillReport;
import dev.sluice.core.engine.SchedulerQueries.EarlierLocalQueues;
import dev.sluice.core.engine.SchedulerQueries.Holder;
import dev.sluice.core.engine.SchedulerQueries.PendingReport;
import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.FlavorAttempt;
import dev.sluice.core.model.FlavorRejection;
import dev.sluice.core.model.FlavorRejection.TopologyShortage;
import dev.sluice.core.model.PendingReason;
import dev.sluice.core.model.PlacementDecision;
import dev.sluice.core.model.PlannedStart;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** Formats explanations for users: for conditions, for events, and in full. */
public final class ExplanationText {

  /** The maximum length of the message of a condition. */
  public static final int LONGEST_MESSAGE = 32768;

  private static final String NOT_EVALUATED = "not evaluated yet";

  private static final String NO_PREEMPTION =
      "the preemption policies of this ClusterQueue don't cover what is missing";

  private ExplanationText() {}

  /** The message of the condition QuotaReserved=False and of the corresponding event. */
  public static String message(Explanation explanation) {
    List<String> parts = new ArrayList<>();
    if (!explanation.detail().isEmpty()) {
      parts.add(explanation.detail());
    }
    byPodSet(explanation.attempts())
        .forEach(
            (podSet, attempts) -> {
              String obstacles =
                  attempts.stream()
                      .filter(attempt -> !fits(attempt) && !isDearer(attempt))
                      .map(ExplanationText::attempt)
                      .collect(Collectors.joining("; "));
              if (!obstacles.isEmpty()) {
                parts.add("pod set " + podSet + ": " + obstacles);
              }
            });
    if (preemptionIsBarred(explanation)) {
      parts.add(NO_PREEMPTION);
    }
    if (parts.isEmpty()) {
      parts.add(explanation.reason().apiReason());
    }
    return truncated(String.join(" | ", parts), LONGEST_MESSAGE);
  }

  /**
   * Whether preemption is not possible; if preemption was tried, the detail reports its result
   * instead.
   */
  private static boolean preemptionIsBarred(Explanation explanation) {
    return explanation.detail().isEmpty()
        && explanation.reason() == PendingReason.WAITING_FOR_QUOTA
        && explanation.attempts().stream()
            .flatMap(attempt -> attempt.flavorRejections().stream())
            .anyMatch(FlavorRejection.InsufficientQuota.class::isInstance);
  }

  /** The reason why a flavor was rejected, in one clause. */
  public static String obstacle(FlavorRejection flavorRejection) {
    return switch (flavorRejection) {
      case FlavorRejection.FlavorMissing() -> "the ResourceFlavor doesn't exist";
      case FlavorRejection.UntoleratedTaint(var taint) -> "taint " + taint + " is not tolerated";
      case FlavorRejection.PlacementMismatch() -> "node selector or affinity excludes its nodes";
      case FlavorRejection.OfAnotherVariant() -> "another variant of the workload tries it";
      case FlavorRejection.NodesRefused() ->
          "its nodes were asked for and didn't come, so it is left out for a while";
      case FlavorRejection.NoTopology() -> "the flavor has no topology, which is asked for";
      case FlavorRejection.OnlyByTopology() ->
          "its nodes are assigned by topology only, which isn't asked for";
      case FlavorRejection.GrowsByTopology() ->
          "a running elastic job can't grow where its nodes are assigned by topology, unless the"
              + " pod set has pods and asks for no level, slices or group";
      case FlavorRejection.OtherTopologyFlavor(var flavor) ->
          "the pods are on nodes of flavor " + flavor + " already";
      case FlavorRejection.TopologyLevelMissing(var topology, var level, var levels) ->
          level.isEmpty()
              ? "the Topology " + topology + " doesn't exist"
              : "the Topology "
                  + topology
                  + " has no fitting level "
                  + level
                  + "; its levels are "
                  + String.join(", ", levels);
      case FlavorRejection.UnevenSlices(var pods, var size) ->
          pods
              + " pods can't be cut into slices of "
              + size
              + ": a last slice with fewer pods is possible with one layer of slices and gate"
              + " TASPartialSlices only";
      case FlavorRejection.NoPlacement(var shortage, var everEmpty, var crowding) ->
          TopologyText.of(shortage, everEmpty)
              + crowding.stream().map(TopologyText::of).collect(Collectors.joining());
      case FlavorRejection.DearerThanMax(var perHour, var max) ->
          "costs "
              + perHour.stripTrailingZeros().toPlainString()
              + " an hour, more than the "
              + max.stripTrailingZeros().toPlainString()
              + " of sluice.dev/max-price";
      case FlavorRejection.CheaperFits() -> "not tried, since a cheaper flavor fits";
      case FlavorRejection.WaitsForCheaper(var flavor, var expected, var until) ->
          "fits, but flavor "
              + flavor
              + " is cheaper and expected to be free at "
              + expected
              + "; it waits for that until "
              + until
              + " at the latest (sluice.dev/max-delay-for-cheaper)";
      case FlavorRejection.ReplacedSliceFlavor(var flavor) ->
          "the slice that it replaces has flavor " + flavor;
      case FlavorRejection.ResourceNotCovered(var resource, var requested) ->
          "the ClusterQueue has no quota for "
              + resource
              + ", "
              + Quantities.format(resource, requested)
              + " requested";
      case FlavorRejection.ExceedsMaximum(var resource, var requested, var maximum) ->
          resource
              + ": "
              + amounts(resource, "%s requested, more than the maximum of %s", requested, maximum);
      case FlavorRejection.InsufficientQuota(
              var resource,
              var requested,
              var available,
              var maximum) ->
          resource
              + ": "
              + amounts(
                  resource,
                  "%s requested, %s available of %s, %s missing",
                  requested,
                  Math.max(0, available),
                  maximum,
                  requested - Math.max(0, available));
      case FlavorRejection.InsufficientGuarantee(
              var resource,
              var requested,
              var available,
              var maximum) ->
          resource
              + ": "
              + amounts(
                  resource,
                  "%s requested without preemption, %s available of the guaranteed %s, %s missing",
                  requested,
                  available,
                  maximum,
                  requested - available);
    };
  }

  /** Fills a text with amounts in one unit, so that they can be compared at a glance. */
  private static String amounts(String resource, String text, long... amounts) {
    return text.formatted(Quantities.inOneUnit(resource, amounts).toArray());
  }

  /** The note of the event QuotaReserved. */
  public static String quotaReserved(
      String clusterQueue, Duration waited, List<FlavorAttempt> considered) {
    String flavors = considered(considered);
    return "Quota reserved in ClusterQueue "
        + clusterQueue
        + ", wait time since queued was "
        + waited.toSeconds()
        + "s"
        + (flavors.isEmpty() ? "" : "; Flavors considered: " + flavors);
  }

  /** The note of the event Admitted. */
  public static String admitted(String clusterQueue, Duration sinceReserved) {
    return "Admitted by ClusterQueue "
        + clusterQueue
        + ", wait time since reservation was "
        + sinceReserved.toSeconds()
        + "s";
  }

  /**
   * The flavors that were considered, per pod set (docs/workload-semantics.md#events); flavors that
   * fit without preemption or borrowing are left out, unless costs count.
   */
  static String considered(List<FlavorAttempt> attempts) {
    List<String> podSets = new ArrayList<>();
    byPodSet(attempts)
        .forEach(
            (podSet, tried) -> {
              String flavors =
                  tried.stream()
                      .filter(
                          attempt ->
                              attempt.borrowLevel() > 0
                                  || !fits(attempt)
                                  || attempt.cost().isPresent())
                      .map(ExplanationText::mode)
                      .collect(Collectors.joining(", "));
              if (!flavors.isEmpty()) {
                podSets.add(podSet + ": " + flavors);
              }
            });
    return String.join(" | ", podSets);
  }

  /** The lines that {@code explain} shows for a pending Workload. */
  public static List<String> lines(PendingReport waiting) {
    List<String> lines = new ArrayList<>();
    lines.add(position(waiting));
    lines.add(waiting.explanation().map(e -> e.reason().apiReason()).orElse(NOT_EVALUATED));
    if (waiting.position().inadmissible()) {
      lines.add(
          "inadmissible: it is evaluated again when quota that it lacks is released or changed");
    }
    waiting.explanation().ifPresent(explanation -> lines.addAll(lines(explanation)));
    waiting
        .earlierLocalQueues()
        .ifPresent(earlier -> lines.add(earlierLocalQueues(earlier, waiting)));
    waiting.holders().forEach(holder -> lines.add(holder(holder)));
    waiting.backfill().ifPresent(backfill -> lines.add(BackfillText.line(backfill)));
    return List.copyOf(lines);
  }

  /** An amount of a resource as a Kubernetes quantity. */
  public static String quantity(String resource, long amount) {
    return Quantities.format(resource, amount);
  }

  /** {@code text}, shortened to {@code longest} characters with an ellipsis. */
  public static String truncated(String text, int longest) {
    return text.length() <= longest ? text : text.substring(0, longest - 1) + "…";
  }

  private static String position(PendingReport waiting) {
    PendingPosition position = waiting.position();
    if (position.inClusterQueue() < 0) {
      return "not in a queue at the moment";
    }
    return "position "
        + (position.inClusterQueue() + 1)
        + " in ClusterQueue "
        + waiting.clusterQueue()
        + ", "
        + (position.inLocalQueue() + 1)
        + " in LocalQueue "
        + position.queueName()
        + " (1 is next), priority "
        + position.priority();
  }

  private static String earlierLocalQueues(EarlierLocalQueues earlier, PendingReport waiting) {
    return "LocalQueue %s used more than %s: %s, against %s of LocalQueue %s, which comes first"
        .formatted(
            waiting.position().queueName(),
            earlier.others() == 1 ? "another one" : earlier.others() + " others",
            used(earlier.used()),
            used(earlier.usedByFirst()),
            earlier.first().namespace() + "/" + earlier.first().name());
  }

  /** The usage of a LocalQueue over time, as admission fair sharing compares it. */
  public static String used(double amount) {
    return Double.isInfinite(amount)
        ? "without bounds"
        : String.format(Locale.ROOT, "%.3f", amount);
  }

  private static List<String> lines(Explanation explanation) {
    List<String> lines = new ArrayList<>();
    if (!explanation.detail().isEmpty()) {
      lines.add(explanation.detail());
    }
    for (FlavorAttempt attempt : explanation.attempts()) {
      String result = fits(attempt) ? "fits" : obstacles(attempt);
      String flavor = attempt.flavor().isEmpty() ? "" : ", flavor " + attempt.flavor();
      lines.add("pod set " + attempt.podSet() + flavor + ": " + result + cost(attempt));
    }
    if (preemptionIsBarred(explanation)) {
      lines.add(NO_PREEMPTION);
    }
    return lines;
  }

  /** What an attempt would cost, to be appended. */
  private static String cost(FlavorAttempt attempt) {
    return attempt.cost().map(cost -> " (" + cost(cost) + ")").orElse("");
  }

  /** A cost, such as {@code 2.5 an hour, 10 expected to finish}. */
  public static String cost(FlavorAttempt.Cost cost) {
    return cost.perHour().toPlainString()
        + " an hour"
        + cost.toFinish().map(sum -> ", " + sum.toPlainString() + " expected to finish").orElse("");
  }

  private static String holder(Holder holder) {
    String resource = holder.pair().resource();
    return holder.id()
        + " in ClusterQueue "
        + holder.clusterQueue()
        + " holds "
        + Quantities.format(resource, holder.amount())
        + " "
        + resource
        + " of flavor "
        + holder.pair().flavor();
  }

  private static String mode(FlavorAttempt attempt) {
    List<String> parts = new ArrayList<>();
    parts.add(
        switch (attempt.mode()) {
          case FIT -> "Fit";
          case NO_FIT -> "NoFit";
          case NO_CANDIDATES -> "preemptionMode=NoCandidates";
          case PREEMPT -> "preemptionMode=Preempt";
          case RECLAIM -> "preemptionMode=Reclaim";
        });
    if (attempt.borrowLevel() > 0) {
      parts.add("borrow=" + attempt.borrowLevel());
    }
    if (!fits(attempt)) {
      parts.add(obstacles(attempt));
    }
    attempt
        .cost()
        .ifPresent(
            cost ->
                parts.add(
                    "cost=%s/h%s"
                        .formatted(
                            cost.perHour().toPlainString(),
                            cost.toFinish()
                                .map(sum -> " in all=" + sum.toPlainString())
                                .orElse(""))));
    return attempt.flavor() + "(" + String.join(";", parts) + ")";
  }

  private static String attempt(FlavorAttempt attempt) {
    String flavor = attempt.flavor().isEmpty() ? "" : "flavor " + attempt.flavor() + ": ";
    return flavor + obstacles(attempt);
  }

  private static String obstacles(FlavorAttempt attempt) {
    return attempt.flavorRejections().stream()
        .map(ExplanationText::obstacle)
        .collect(Collectors.joining(", "));
  }

  private static boolean isDearer(FlavorAttempt attempt) {
    return attempt.flavorRejections().contains(new FlavorRejection.CheaperFits());
  }

  private static boolean fits(FlavorAttempt attempt) {
    return attempt.flavorRejections().isEmpty();
  }

  private static Map<String, List<FlavorAttempt>> byPodSet(List<FlavorAttempt> attempts) {
    return attempts.stream()
        .collect(
            Collectors.groupingBy(FlavorAttempt::podSet, LinkedHashMap::new, Collectors.toList()));
  }

  /** Why a second pass found no places. */
  public static String unplaced(PlacementDecision.GiveUp decision) {
    return "couldn't find places for pod set "
        + decision.podSet()
        + ": "
        + decision
            .shortage()
            .map(shortage -> TopologyText.of(shortage, false))
            .orElse("the topology, or a node that it keeps, doesn't exist any more");
  }

  /** Renders shortages of places as text. */
  private static final class TopologyText {

    private TopologyText() {}

    /** Why pods found no place, in one clause with the numbers. */
    static String of(TopologyShortage shortage, boolean everEmpty) {
      StringBuilder text = new StringBuilder("needs ");
      text.append(pods(shortage.needed()));
      if (shortage.leader()) {
        text.append(" and a leader");
      }
      if (shortage.sliceSize() > 1) {
        text.append(" in slices of ").append(shortage.sliceSize());
        text.append(", each in one ").append(shortage.sliceLevel());
      }
      if (!shortage.level().isEmpty()) {
        text.append(shortage.sliceSize() > 1 ? ", all" : "").append(" in one ");
        text.append(shortage.level());
      }
      text.append(everEmpty ? ", more than empty nodes have room for" : "");
      if (shortage.domains() == 0) {
        return text.append("; no usable node has the labels of the flavor and the topology")
            .toString();
      }
      if (!shortage.level().isEmpty()) {
        text.append("; the best, ").append(shortage.best()).append(", has room for ");
        text.append(shortage.bestRoom());
        if (!shortage.around().isEmpty()) {
          text.append("; ").append(shortage.aroundRoom());
          text.append(" in the ").append(shortage.around()).append(" around it");
        }
      }
      text.append("; ").append(shortage.total()).append(" in all of ");
      text.append(shortage.domains()).append(shortage.domains() == 1 ? " domain" : " domains");
      if (shortage.excluded() > 0) {
        text.append("; ").append(shortage.excluded());
        text.append(shortage.excluded() == 1 ? " node is" : " nodes are");
        text.append(" excluded by taints, node selector or affinity");
      }
      return text.toString();
    }

    /** Which domains a rule closes, and why. */
    static String of(FlavorRejection.Crowding crowding) {
      return "; "
          + crowding.count()
          + " of the domains of "
          + crowding.rule().level()
          + " ("
          + String.join(", ", crowding.domains())
          + (crowding.count() > crowding.domains().size() ? ", …" : "")
          + ") take no other group: each has more than "
          + crowding.rule().maxShare()
          + " % of the "
          + crowding.groups()
          + " that are spread";
    }

    private static String pods(long count) {
      return count == 1 ? "1 pod" : count + " pods";
    }
  }

  /** What back-fill means to a pending Workload, in words (docs/backfill.md#what-is-shown). */
  public static final class BackfillText {

    private BackfillText() {}

    /** The line that {@code explain} shows. */
    public static String line(BackfillReport report) {
      String own = report.own().map(BackfillText::planned).orElse("no start is planned");
      return own + report.first().map(first -> behind(first, report)).orElse("");
    }

    private static String planned(PlannedStart start) {
      String text = "planned to start by %s at the latest".formatted(seconds(start.at()));
      return start.lateBy().isEmpty()
          ? text
          : text
              + " (was %s, later by %s)"
                  .formatted(
                      seconds(start.promised()),
                      start.lateBy().stream()
                          .map(PlannedStart.LateCause::text)
                          .collect(Collectors.joining(", ")));
    }

    private static String behind(PlannedStart first, BackfillReport report) {
      String text =
          ", behind %s/%s, which is planned to start by %s"
              .formatted(first.id().namespace(), first.id().name(), seconds(first.at()));
      Optional<Instant> until = report.startsBeforeUntil();
      if (until.isPresent()) {
        return text + "; may run before it if it starts by " + seconds(until.get());
      }
      return report.needsBound()
          ? text + "; may not run before it, because it has no limit of its run time"
          : text
              + "; may run before it only on what is not planned, because its run time is unknown";
    }

    private static Instant seconds(Instant time) {
      return time.truncatedTo(ChronoUnit.SECONDS);
    }
  }
}

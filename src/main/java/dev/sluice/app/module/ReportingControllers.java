package dev.sluice.app.module;

import dev.sluice.api.KueueConstants;
import dev.sluice.core.model.PendingReason;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.JobKindDescription;
import dev.sluice.jobs.kinds.BuiltInIntegrations;
import dev.sluice.kube.events.EventRecorder.Reporter;
import dev.sluice.kube.events.ObjectReference;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The controllers that events name as their source, by the names that Kueue gives them, because
 * people select events by {@code source} and {@code reportingComponent}: what is decided about a
 * Workload is {@code kueue-admission}'s, what is done to a job is that of its kind, such as {@code
 * batch/job-kueue-controller}.
 */
final class ReportingControllers {

  private static final String ADMISSION = "kueue-admission";

  /** The reasons of events by which the scheduler tells its decisions. */
  private static final Set<String> DECISIONS =
      Set.of("QuotaReserved", "Admitted", "Preempted", "PreemptedWorkload", "SecondPassFailed");

  private static final Set<String> PENDING =
      Stream.of(PendingReason.values()).map(PendingReason::apiReason).collect(Collectors.toSet());

  private static final List<JobKind> JOBS =
      BuiltInIntegrations.descriptions().stream().map(JobKindDescription::kind).toList();

  private ReportingControllers() {}

  /** The controller that an event with this reason about this object names. */
  static String of(ObjectReference about, String reason) {
    if (about.apiVersion().startsWith(KueueConstants.GROUP + "/")) {
      boolean decided = DECISIONS.contains(reason) || PENDING.contains(reason);
      return about.kind().equals("Workload") && decided
          ? ADMISSION
          : "kueue-" + about.kind().toLowerCase(Locale.ROOT) + "-controller";
    }
    return JOBS.stream()
        .filter(kind -> kind.is(about.apiVersion(), about.kind()))
        .findFirst()
        .map(kind -> kind.framework() + "-kueue-controller")
        .orElse(Reporter.UNNAMED);
  }
}

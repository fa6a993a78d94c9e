package dev.sluice.jobs.controller;

import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.JobRef;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.CheckState;
import dev.sluice.workload.record.CachedWorkload.Owner;
import dev.sluice.workload.record.WorkloadListener;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Tells people at the job what the admission checks say that it waits for, whenever that changes.
 * Of a group of pods, which nobody controls, the first pod is told.
 */
public final class AdmissionCheckEvents implements WorkloadListener {

  private final JobKind kind;
  private final JobEvents events;
  private final BooleanSupplier leading;

  /** For jobs of a kind; {@code leading} says whether this process may tell, when asked. */
  public AdmissionCheckEvents(JobKind kind, JobEvents events, BooleanSupplier leading) {
    this.kind = kind;
    this.events = events;
    this.leading = leading;
  }

  @Override
  public void changed(@Nullable CachedWorkload before, @Nullable CachedWorkload after) {
    if (before == null || after == null || !after.quotaReserved() || after.admitted()) {
      return;
    }
    List<CheckState> now = after.status().admissionChecks();
    if (now.isEmpty() || now.equals(before.status().admissionChecks())) {
      return;
    }
    String text = text(now);
    Stream<Owner> owners =
        after.owner().isPresent() ? after.owner().stream() : after.coOwners().stream();
    Optional<JobRef> job =
        owners
            .filter(owner -> kind.is(owner.apiVersion(), owner.kind()))
            .findFirst()
            .map(owner -> new JobRef(kind, after.id().namespace(), owner.name(), owner.uid()));
    if (job.isPresent()
        && !text.isEmpty()
        && !text.equals(text(before.status().admissionChecks()))
        && leading.getAsBoolean()) {
      events.normal(job.get(), "UpdatedAdmissionCheck", text);
    }
  }

  /** What those say that are Pending. */
  private static String text(List<CheckState> checks) {
    return checks.stream()
        .filter(check -> check.is(CheckState.PENDING) && !check.message().isEmpty())
        .map(check -> check.name() + ": " + check.message())
        .collect(Collectors.joining("; "));
  }
}

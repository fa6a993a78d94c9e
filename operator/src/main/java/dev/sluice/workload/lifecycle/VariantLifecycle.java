package dev.sluice.workload.lifecycle;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.ApiVersions;
import dev.sluice.api.KueueConstants;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.workload.lifecycle.FamilyPolicy.Write;
import dev.sluice.workload.lifecycle.LifecycleAction.EventSpec;
import dev.sluice.workload.lifecycle.WorkloadLifecycle.LifecycleEvents;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadListener;
import dev.sluice.workload.record.WorkloadLister;
import dev.sluice.workload.status.VariantPolicy;
import dev.sluice.workload.status.Variants;
import dev.sluice.workload.writing.WorkloadWriter;
import dev.sluice.workload.writing.WorkloadWriter.Outcome;
import dev.sluice.workload.writing.WorkloadWriter.Urgency;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries out what {@link FamilyPolicy} decides, one write per family at a time
 * (docs/concurrent-admission.md). Exists only with the gate ConcurrentAdmission.
 */
public final class VariantLifecycle implements WorkloadListener {

  private static final Logger LOG = LoggerFactory.getLogger(VariantLifecycle.class);
  private static final Duration AFTER_REFUSAL = Duration.ofSeconds(10);
  private static final Duration AFTER_CONFLICT = Duration.ofMillis(200);

  private final WorkloadLister lister;
  private final WorkloadWriter writer;
  private final Options options;
  private final LifecycleEvents events;
  private final BooleanSupplier leading;
  private final InstantSource clock;
  private final Executor executor;
  private final WorkloadLifecycle.Delays delays;
  private final Set<String> writing = ConcurrentHashMap.newKeySet();
  private volatile boolean started;

  /**
   * What families depend on.
   *
   * @param policies the policy of the ClusterQueue of a Workload, if it has one; empty while the
   *     ClusterQueue isn't known
   * @param reader reads a Workload as it is stored; empty if it doesn't exist
   * @param readiness whether admission waits for ready pods
   * @param longest how long names of variants may be
   */
  public record Options(
      Function<CachedWorkload, Optional<Optional<VariantPolicy>>> policies,
      Function<WorkloadId, CompletableFuture<Optional<JsonNode>>> reader,
      boolean readiness,
      int longest) {}

  /** Creates one that writes nothing before {@link #leadershipStarted}. */
  public VariantLifecycle(
      WorkloadLister lister,
      WorkloadWriter writer,
      Options options,
      LifecycleEvents events,
      BooleanSupplier leading,
      InstantSource clock,
      Executor executor,
      WorkloadLifecycle.Delays delays) {
    this.lister = lister;
    this.writer = writer;
    this.options = options;
    this.events = events;
    this.leading = leading;
    this.clock = clock;
    this.executor = executor;
    this.delays = delays;
  }

  /** Called when this process leads and all caches are synced. */
  public void leadershipStarted() {
    started = true;
    queuesChanged();
  }

  /** Decides about all families again, after queues have changed. */
  public void queuesChanged() {
    if (mayAct()) {
      executor.execute(() -> lister.all().forEach(each -> changed(each, each)));
    }
  }

  private boolean mayAct() {
    return started && leading.getAsBoolean();
  }

  @Override
  public void changed(@Nullable CachedWorkload before, @Nullable CachedWorkload after) {
    CachedWorkload workload = after == null ? before : after;
    if (workload == null || !mayAct()) {
      return;
    }
    if (Variants.isVariant(workload)) {
      String parent = workload.owner().map(CachedWorkload.Owner::name).orElse("");
      Optional<CachedWorkload> found = lister.get(workload.id().namespace(), parent);
      if (found.isPresent() && found.get().id().uid().equals(Variants.parentUid(workload))) {
        executor.execute(() -> reconcile(found.get().id()));
      } else if (after != null && !after.deleting()) {
        deleteOrphan(after);
      }
    } else if (after != null && before != null && wasVariant(before, after)) {
      // nobody but the operator may change that, so it can't be a Workload of its own
      deleteOrphan(after);
    } else if (after != null) {
      executor.execute(() -> reconcile(after.id()));
    } else {
      lister.ownedBy(workload.id().uid()).stream()
          .filter(Variants::isVariant)
          .forEach(this::deleteOrphan);
    }
  }

  private static boolean wasVariant(CachedWorkload before, CachedWorkload after) {
    return before.id().equals(after.id()) && Variants.isVariant(before) && !after.deleting();
  }

  private void deleteOrphan(CachedWorkload workload) {
    var unused = writer.delete(workload.id());
  }

  private void reconcile(WorkloadId id) {
    Optional<CachedWorkload> parent = lister.get(id);
    if (parent.isEmpty() || !mayAct() || !writing.add(id.uid())) {
      return;
    }
    boolean idle = true;
    try {
      List<CachedWorkload> variants =
          lister.ownedBy(id.uid()).stream().filter(Variants::isVariant).toList();
      FamilyPolicy.Result result =
          FamilyPolicy.decide(
              parent.get(),
              variants,
              options.policies().apply(parent.get()),
              options.readiness(),
              clock.instant());
      result
          .again()
          .ifPresent(at -> later(Duration.between(clock.instant(), at).plusMillis(1), id));
      if (result.write().isPresent()) {
        idle = false;
        act(id, result.write().get());
      }
    } finally {
      if (idle) {
        writing.remove(id.uid());
      }
    }
  }

  private void later(Duration delay, WorkloadId id) {
    delays.after(delay.isNegative() ? Duration.ZERO : delay, () -> reconcile(id));
  }

  private void act(WorkloadId parent, Write write) {
    var unused =
        write(write)
            .whenCompleteAsync(
                (outcome, bug) -> {
                  writing.remove(parent.uid());
                  if (bug != null) {
                    LOG.error("workload={} family=failed", parent, bug);
                    later(AFTER_REFUSAL, parent);
                  } else {
                    completed(parent, write, outcome);
                  }
                },
                executor);
  }

  private CompletableFuture<Outcome> write(Write write) {
    return switch (write) {
      case Write.Status status ->
          writer.patchStatus(
              status.workload().id(),
              status.workload().version(),
              status.status(),
              Urgency.DECISION);
      case Write.Whole object ->
          writer.patch(object.workload().id(), object.workload().version(), object.patch());
      case Write.Delete delete -> writer.delete(delete.workload().id());
      case Write.Create create ->
          options
              .reader()
              .apply(create.parent().id())
              .thenCompose(
                  found ->
                      found.isEmpty()
                          ? CompletableFuture.completedFuture(new Outcome.Gone())
                          : writer.create(
                              create.parent().id().namespace(),
                              variant(create.parent(), create.flavor(), found.get())));
    };
  }

  private void completed(WorkloadId parent, Write write, Outcome outcome) {
    switch (outcome) {
      case Outcome.Written written -> {
        recordEvents(parent, write);
        reconcile(parent);
      }
      case Outcome.Conflict conflict ->
          later(write instanceof Write.Create ? AFTER_REFUSAL : AFTER_CONFLICT, parent);
      case Outcome.Gone gone -> later(AFTER_CONFLICT, parent);
      case Outcome.Refused refused -> {
        LOG.warn("workload={} family=refused reason=\"{}\"", parent, refused.message());
        later(AFTER_REFUSAL, parent);
      }
    }
  }

  private void recordEvents(WorkloadId parent, Write write) {
    switch (write) {
      case Write.Status status ->
          status
              .event()
              .ifPresent(
                  event ->
                      events.record(
                          event.reason().startsWith("Evicted") ? status.workload().id() : parent,
                          event));
      case Write.Whole object -> object.event().ifPresent(event -> events.record(parent, event));
      case Write.Create create ->
          events.record(
              parent,
              new EventSpec(
                  false,
                  "CreatedVariant",
                  "Variant " + name(create) + " for flavor " + create.flavor()));
      case Write.Delete delete ->
          events.record(
              parent,
              new EventSpec(
                  false,
                  "DeletedVariant",
                  "Variant "
                      + delete.workload().id().name()
                      + " for flavor "
                      + Variants.flavor(delete.workload())));
    }
  }

  private String name(Write.Create create) {
    return Variants.name(create.parent(), create.flavor(), options.longest());
  }

  /** The variant of a parent, with a copy of its spec. */
  private JsonNode variant(CachedWorkload parent, String flavor, JsonNode stored) {
    ObjectNode variant = JsonNodeFactory.instance.objectNode();
    variant.put("apiVersion", ApiVersions.GROUP + "/v1beta2").put("kind", "Workload");
    ObjectNode metadata = variant.putObject("metadata");
    metadata
        .put("name", Variants.name(parent, flavor, options.longest()))
        .put("namespace", parent.id().namespace());
    ObjectNode labels = copied(metadata, stored, "labels");
    labels.remove(List.of(KueueConstants.CONCURRENT_ADMISSION_PARENT, KueueConstants.JOB_UID));
    ObjectNode annotations = copied(metadata, stored, "annotations");
    annotations.remove(List.of(KueueConstants.ADMISSION_GATED_BY, KueueConstants.PRIORITY_BOOST));
    annotations.put(KueueConstants.ALLOWED_RESOURCE_FLAVORS, flavor);
    metadata
        .putArray("ownerReferences")
        .addObject()
        .put("apiVersion", ApiVersions.GROUP + "/v1beta2")
        .put("kind", "Workload")
        .put("name", parent.id().name())
        .put("uid", parent.id().uid())
        .put("controller", true);
    ObjectNode spec =
        stored.path("spec") instanceof ObjectNode given
            ? given.deepCopy()
            : JsonNodeFactory.instance.objectNode();
    // The parent limits the time, and is deactivated when that is over.
    spec.remove("maximumExecutionTimeSeconds");
    spec.put("active", true);
    spec.withArrayProperty("preemptionGates")
        .addObject()
        .put("name", KueueConstants.CONCURRENT_ADMISSION_GATE);
    variant.set("spec", spec);
    return variant;
  }

  private static ObjectNode copied(ObjectNode metadata, JsonNode stored, String field) {
    JsonNode given = stored.path("metadata").path(field);
    ObjectNode copy =
        given instanceof ObjectNode object
            ? object.deepCopy()
            : JsonNodeFactory.instance.objectNode();
    metadata.set(field, copy);
    return copy;
  }
}

package dev.sluice.kubequeue;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.ClusterQueue.ClusterQueueSpec;
import dev.sluice.api.v1beta2.Cohort;
import dev.sluice.api.v1beta2.Cohort.CohortSpec;
import dev.sluice.core.engine.Engine;
import dev.sluice.core.engine.EngineOptions;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.LocalQueueSpec;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.kubequeue.QuotaPlanner.QuotaPlan;
import dev.sluice.queues.mapping.CheckControllerDescription.CheckControllers;
import dev.sluice.queues.mapping.ClusterQueueMapper;
import dev.sluice.queues.mapping.CohortMapper;
import dev.sluice.queues.mapping.ReferenceLookup;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;

/** The engine with the objects of a plan, mapped as the operator maps them. */
final class MappedEngine {

  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
  private static final ReferenceLookup REFERENCES =
      new ReferenceLookup(
          any -> Optional.empty(),
          name -> Optional.of(flavor(name)),
          any -> false,
          new CheckControllers(List.of()));

  private final List<Decision> decisions = new ArrayList<>();
  private final Engine engine = new Engine(EngineOptions.DEFAULT, decisions::add);
  private final Map<String, String> queues = new HashMap<>();
  private long version = 1;

  /** Nothing preempts anything: the question is what fits. */
  MappedEngine(QuotaPlan plan) {
    engine.apply(new SchedulerEvent.TimePassed(START));
    engine.apply(new SchedulerEvent.NamespaceChanged("ns", Map.of()));
    for (PlannedObject object : plan.objects()) {
      switch (object.id().kind()) {
        case FLAVOR ->
            engine.apply(
                new SchedulerEvent.FlavorChanged(
                    new Flavor(object.id().name(), Map.of(), List.of(), List.of())));
        case COHORT -> cohort(object);
        case CLUSTER_QUEUE -> queue(object);
        case LOCAL_QUEUE, QUEUE -> {}
      }
    }
    engine.apply(new SchedulerEvent.DecidingEnabled(true));
  }

  private static dev.sluice.api.v1beta2.ResourceFlavor flavor(String name) {
    dev.sluice.api.v1beta2.ResourceFlavor flavor = new dev.sluice.api.v1beta2.ResourceFlavor();
    flavor.setMetadata(new ObjectMetaBuilder().withName(name).build());
    return flavor;
  }

  private void cohort(PlannedObject object) {
    Cohort cohort = new Cohort();
    cohort.setMetadata(
        new ObjectMetaBuilder()
            .withName(object.id().name())
            .withAnnotations(object.annotations())
            .build());
    cohort.setSpec(JsonMappers.JSON.convertValue(object.spec(), CohortSpec.class));
    engine.apply(new SchedulerEvent.CohortChanged(CohortMapper.translate(cohort).value()));
  }

  private void queue(PlannedObject object) {
    String name = object.id().name();
    ObjectNode spec = object.spec().deepCopy();
    spec.withObject("/preemption").put("reclaimWithinCohort", "Never");
    spec.putObject("namespaceSelector");
    ClusterQueue queue = new ClusterQueue();
    queue.setMetadata(
        new ObjectMetaBuilder().withName(name).withAnnotations(object.annotations()).build());
    queue.setSpec(JsonMappers.JSON.convertValue(spec, ClusterQueueSpec.class));
    engine.apply(
        new SchedulerEvent.ClusterQueueChanged(
            ClusterQueueMapper.translate(queue, REFERENCES).ignoringUndeclared()));
    engine.apply(
        new SchedulerEvent.LocalQueueChanged(
            new LocalQueueSpec(
                new LocalQueueId("ns", name),
                name,
                dev.sluice.core.model.ClusterQueueSpec.StopPolicy.NONE)));
    queues.put(SourceMark.of(object.annotations()).map(SourceMark::path).orElseThrow(), name);
  }

  /**
   * Whether a request of the quota at this path is admitted; if not, it is withdrawn.
   *
   * @param guaranteed whether the job is marked as not preemptible
   */
  boolean admits(String id, String path, Map<String, Long> request, boolean guaranteed) {
    WorkloadId workload = new WorkloadId("uid-" + id, "ns", id);
    RequestShape shape =
        new RequestShape(
            List.of(
                new PodSetRequest(
                    "main", 1, 0, new TreeMap<>(request), NodeConstraints.ANYWHERE, "")),
            guaranteed);
    engine.apply(
        new SchedulerEvent.WorkloadPending(
            new PendingWorkload(
                workload,
                version++,
                Objects.requireNonNull(queues.get(path)),
                shape,
                0,
                START,
                START,
                Optional.empty(),
                false,
                Optional.empty())));
    decisions.clear();
    while (engine.cycle()) {
      // until nothing is left to look at
    }
    boolean admitted = decisions.stream().anyMatch(each -> each instanceof Decision.Admit);
    if (admitted) {
      engine.apply(new SchedulerEvent.AdmissionWritten(workload, version++));
    } else {
      release(id);
    }
    return admitted;
  }

  /** Ends a Workload. */
  void release(String id) {
    engine.apply(
        new SchedulerEvent.WorkloadReleased(new WorkloadId("uid-" + id, "ns", id), version++));
  }
}

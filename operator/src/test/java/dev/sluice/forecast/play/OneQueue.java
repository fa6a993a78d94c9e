package dev.sluice.forecast.play;

import dev.sluice.core.engine.EngineOptions;
import dev.sluice.core.engine.InlineScheduler;
import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.FlavorFungibility;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.ClusterQueueSpec.StopPolicy;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.LabelSelector;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.LocalQueueSpec;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.ResourceGroup;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import dev.sluice.core.model.WorkloadId;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** An engine with one queue: {@code lq} of namespace {@code team}, four CPUs of one flavor. */
public final class OneQueue {

  /** When it begins to decide. */
  public static final Instant BEGIN = Instant.parse("2026-01-01T00:00:00Z");

  private OneQueue() {}

  /** The engine. */
  public static Play.Source source(PreemptionPolicies preemption) {
    List<Decision> decisions = new ArrayList<>();
    InlineScheduler scheduler = new InlineScheduler(EngineOptions.DEFAULT, decisions::add);
    scheduler.apply(new SchedulerEvent.TimePassed(BEGIN));
    scheduler.apply(new SchedulerEvent.NamespaceChanged("team", Map.of()));
    scheduler.apply(
        new SchedulerEvent.FlavorChanged(new Flavor("any", Map.of(), List.of(), List.of())));
    scheduler.apply(
        new SchedulerEvent.ClusterQueueChanged(
            new ClusterQueueSpec(
                "cq",
                "",
                List.of(
                    new ResourceGroup(
                        List.of("cpu"),
                        List.of(
                            new ResourceGroup.FlavorQuotas(
                                "any",
                                Map.of(
                                    "cpu",
                                    new ResourceGroup.Quota(
                                        4_000,
                                        ResourceAmounts.UNLIMITED,
                                        ResourceAmounts.UNLIMITED)))))),
                QueueingStrategy.BEST_EFFORT_FIFO,
                new LabelSelector.Requirements(List.of()),
                StopPolicy.NONE,
                false,
                preemption,
                FlavorFungibility.DEFAULT,
                BigDecimal.ONE,
                List.of(),
                List.of(),
                false)));
    scheduler.apply(
        new SchedulerEvent.LocalQueueChanged(
            new LocalQueueSpec(new LocalQueueId("team", "lq"), "cq", StopPolicy.NONE)));
    scheduler.apply(new SchedulerEvent.DecidingEnabled(true));
    return new Play.Source(scheduler, decisions);
  }

  /** A Workload of one pod that was created at a time. */
  public static PendingWorkload workload(String name, int cpus, long priority, Instant at) {
    return new PendingWorkload(
        new WorkloadId("uid-" + name, "team", name),
        0,
        "lq",
        new RequestShape(
            List.of(
                new PodSetRequest(
                    "main",
                    1,
                    0,
                    new TreeMap<>(Map.of("cpu", cpus * 1_000L)),
                    NodeConstraints.ANYWHERE,
                    ""))),
        priority,
        at,
        at,
        Optional.empty(),
        false,
        Optional.empty());
  }
}

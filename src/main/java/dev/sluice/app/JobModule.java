package dev.sluice.app;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.jobs.AdmissionCheckEvents;
import dev.sluice.jobs.CachedJob;
import dev.sluice.jobs.CachedJobLookups;
import dev.sluice.jobs.IntegrationRegistry;
import dev.sluice.jobs.JobOptions;
import dev.sluice.jobs.JobReconciler;
import dev.sluice.jobs.KubernetesJobClient;
import dev.sluice.jobs.OwnerChainResolver;
import dev.sluice.jobs.RemoteExecutionCheck;
import dev.sluice.jobs.batch.BatchJob;
import dev.sluice.jobs.batch.BatchJobController;
import dev.sluice.jobs.statefulset.StatefulSetWorkloads;
import dev.sluice.webhooks.CachedClusterLookup;
import dev.sluice.webhooks.ClusterLookup;
import io.javaoperatorsdk.operator.Operator;
import java.util.Map;

/** The integration of {@code batch/v1} Jobs, and what the integrations of all kinds share. */
final class JobModule implements OperatorModule {

  private static final int WRITES_AT_A_TIME = 16;

  private final OperatorContext context;
  private final InformerModule informers;
  private final JobOptions options;
  private final IntegrationRegistry registry = new IntegrationRegistry();
  private final OwnerChainResolver owners;
  private final StatefulSetWorkloads statefulSetWorkloads;
  private final CachedClusterLookup clusterLookup;
  private final JobReconciler.Dependencies dependencies;
  private final BatchJobController batchJobs;

  /** Connected to the Workloads that {@code workloads} reads. */
  JobModule(OperatorContext context, InformerModule informers, WorkloadModule workloads) {
    this.context = context;
    this.informers = informers;
    options = context.options().jobs(this::namespaceLabels);
    owners = new OwnerChainResolver(options, workloads.cache(), registry);
    statefulSetWorkloads =
        new StatefulSetWorkloads(workloads.cache(), options.longestWorkloadName());
    clusterLookup =
        new CachedClusterLookup(
            informers.caches(),
            informers.localClusters(),
            this::isManaged,
            (namespace, owner) ->
                statefulSetWorkloads.isInUse(namespace, owner.name(), owner.uid()),
            new OperatorIdentity(context.client(), context.configuration().namespace()));
    CachedJobLookups lookups = new CachedJobLookups(informers.caches(), new ObjectMapper());
    dependencies =
        new JobReconciler.Dependencies(
            workloads.reflector(),
            workloads.writer(),
            new KubernetesJobClient(context.requests(Integer.MAX_VALUE)),
            lookups,
            lookups,
            new RecordedJobEvents(context.events()),
            context.clock(),
            context.informers());
    batchJobs = batchJobs();
    workloads
        .reflector()
        .listen(
            new AdmissionCheckEvents(
                BatchJob.KIND, dependencies.events(), context.leadership()::leading));
  }

  private BatchJobController batchJobs() {
    JobReconciler reconciler =
        new JobReconciler(
            new BatchJob(),
            options,
            owners,
            RemoteExecutionCheck.whereMarked(
                context.options().manager(informers.caches()), informers.localClusters()::isSent),
            dependencies,
            WRITES_AT_A_TIME);
    return new BatchJobController(
        reconciler,
        owners,
        registry,
        dependencies,
        context.executor(),
        context.leadership()::leading);
  }

  private Map<String, String> namespaceLabels(String namespace) {
    return clusterLookup.namespaceLabels(namespace);
  }

  private boolean isManaged(String namespace, ClusterLookup.Owner owner) {
    return owners.isManaged(
        namespace,
        new CachedJob.Controller(owner.apiVersion(), owner.kind(), owner.name(), owner.uid()));
  }

  JobOptions options() {
    return options;
  }

  /** The kinds that are handled. */
  IntegrationRegistry registry() {
    return registry;
  }

  OwnerChainResolver owners() {
    return owners;
  }

  StatefulSetWorkloads statefulSetWorkloads() {
    return statefulSetWorkloads;
  }

  /** What webhooks know of the cluster, as far as it is listed. */
  ClusterLookup clusterLookup() {
    return clusterLookup;
  }

  /** What the reconcilers of all kinds work with. */
  JobReconciler.Dependencies dependencies() {
    return dependencies;
  }

  @Override
  public void register(Operator operator) {
    operator.register(batchJobs, batchJobs::configure);
  }

  @Override
  public void leadershipStarted() {
    batchJobs.leadershipStarted();
  }
}

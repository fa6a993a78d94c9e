package dev.sluice.app;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.jobs.CachedJob;
import dev.sluice.jobs.CachedJobLookups;
import dev.sluice.jobs.IntegrationRegistry;
import dev.sluice.jobs.JobControllerContext;
import dev.sluice.jobs.JobKindController;
import dev.sluice.jobs.JobOptions;
import dev.sluice.jobs.JobReconciler;
import dev.sluice.jobs.KubernetesJobClient;
import dev.sluice.jobs.OwnerChainResolver;
import dev.sluice.jobs.RemoteExecutionCheck;
import dev.sluice.jobs.RemoteExecutionLookup;
import dev.sluice.jobs.integrations.BuiltInIntegrations;
import dev.sluice.jobs.pod.PodIndex;
import dev.sluice.jobs.statefulset.StatefulSetWorkloads;
import dev.sluice.kube.workqueue.WorkQueueSettings;
import dev.sluice.webhooks.CachedClusterLookup;
import dev.sluice.webhooks.ClusterLookup;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** The controllers of all kinds of jobs that the configuration enables. */
final class JobModule implements OperatorModule {

  private final OperatorContext context;
  private final InformerModule informers;
  private final JobOptions options;
  private final OwnerChainResolver owners;
  private final CachedClusterLookup clusterLookup;
  private final List<JobKindController> controllers;

  /** Jobs are not acted on before the Workload cache has what the previous leader wrote. */
  private volatile boolean started;

  /**
   * Connected to the Workloads that {@code workloads} reads.
   *
   * @param podIndex filled by the controller of pods after the start
   */
  JobModule(
      OperatorContext context,
      InformerModule informers,
      WorkloadModule workloads,
      PodIndex podIndex) {
    this.context = context;
    this.informers = informers;
    options = context.options().jobs(this::namespaceLabels);
    IntegrationRegistry registry =
        new IntegrationRegistry(
            BuiltInIntegrations.all(podIndex),
            context.configuration().integrations().frameworks(),
            context::isEnabled);
    owners = new OwnerChainResolver(options, workloads.cache(), registry);
    StatefulSetWorkloads statefulSetWorkloads =
        new StatefulSetWorkloads(workloads.cache(), options.longestWorkloadName());
    clusterLookup =
        new CachedClusterLookup(
            informers.caches(),
            informers.localClusters(),
            this::isManaged,
            (namespace, owner) ->
                statefulSetWorkloads.isInUse(namespace, owner.name(), owner.uid()),
            new OperatorIdentity(context.client(), context.configuration().namespace()));
    controllers = registry.controllers(controllerContext(registry, workloads));
  }

  private JobControllerContext controllerContext(
      IntegrationRegistry registry, WorkloadModule workloads) {
    CachedJobLookups lookups = new CachedJobLookups(informers.caches(), new ObjectMapper());
    return new JobControllerContext(
        context.client(),
        options,
        registry,
        owners,
        RemoteExecutionCheck.whereMarked(
            context.options().manager(informers.caches()), informers.localClusters()::isSent),
        new RemoteExecutionLookup(informers.caches()),
        new JobReconciler.Dependencies(
            workloads.reflector(),
            workloads.writer(),
            new KubernetesJobClient(context.requests(Integer.MAX_VALUE)),
            lookups,
            lookups,
            new RecordedJobEvents(context.events()),
            context.clock(),
            context.informers()),
        WorkQueueSettings.of(context.executor(), context::schedule),
        () -> started && context.leadership().leading());
  }

  private Map<String, String> namespaceLabels(String namespace) {
    return clusterLookup.namespaceLabels(namespace);
  }

  private boolean isManaged(String namespace, ClusterLookup.Owner owner) {
    return owners.isManaged(
        namespace,
        new CachedJob.Controller(owner.apiVersion(), owner.kind(), owner.name(), owner.uid()));
  }

  /** What webhooks know of the cluster, as far as it is listed. */
  ClusterLookup clusterLookup() {
    return clusterLookup;
  }

  @Override
  public void start(CacheSyncWaiter cacheSync) throws IOException {
    Map<String, CompletableFuture<Void>> listings = new LinkedHashMap<>();
    controllers.forEach(controller -> listings.put(controller.name(), controller.start()));
    for (var listing : listings.entrySet()) {
      cacheSync.await(listing.getKey(), listing.getValue());
    }
  }

  @Override
  public void leadershipStarted() {
    started = true;
    controllers.forEach(JobKindController::leadershipStarted);
  }

  @Override
  public void stop() {
    controllers.forEach(JobKindController::close);
  }
}

package dev.sluice.jobs.controller;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.jobs.ScriptedApi;
import dev.sluice.jobs.controller.JobControllers.JobKindController;
import dev.sluice.jobs.kind.JobIntegration;
import dev.sluice.jobs.kind.ObjectKey;
import dev.sluice.jobs.kinds.batch.BatchJob;
import dev.sluice.jobs.kinds.kubeflow.LegacyMpiJob;
import dev.sluice.jobs.kinds.kubeflow.MpiJob;
import dev.sluice.jobs.madeup.Task;
import dev.sluice.jobs.policy.JobOptions;
import dev.sluice.kube.controller.WorkQueueSettings;
import dev.sluice.kube.controller.WorkQueueSettings.GroupKindConcurrency;
import dev.sluice.kube.reflect.ReadErrorLog;
import dev.sluice.kube.reflect.Reflectors;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Controllers come and go with the definitions of their kinds. */
class JobControllersTest {

  private final List<String> calls = new ArrayList<>();
  private final Set<String> served = new HashSet<>();
  private final KubernetesClient client =
      new KubernetesClientBuilder()
          .withConfig(new ConfigBuilder().withMasterUrl("http://127.0.0.1:1").build())
          .build();
  private final IntegrationRegistry registry =
      new IntegrationRegistry(
          List.of(entry(new BatchJob()), entry(new Task())),
          List.of("batch/job", "example.com/task"),
          gate -> true);
  private final JobControllers controllers =
      new JobControllers(
          context(),
          (name, version) -> served.contains(name + "/" + version),
          () -> calls.add("withdrawn"));

  @AfterEach
  void close() {
    client.close();
  }

  private Integration entry(JobIntegration integration) {
    return Integration.controlled(
        integration,
        context -> {
          context.registry().register(integration.kind(), (namespace, name) -> Optional.empty());
          return new Recorded(integration.kind().plural());
        });
  }

  private JobControllerContext context() {
    return context(registry);
  }

  private JobControllerContext context(IntegrationRegistry registry) {
    return context(
        registry,
        new WorkQueueSettings(
            Runnable::run,
            (delay, task) -> {},
            () -> 0,
            1,
            Duration.ofMillis(1),
            Duration.ofMillis(1),
            GroupKindConcurrency.NONE));
  }

  private JobControllerContext context(IntegrationRegistry registry, WorkQueueSettings queue) {
    ScriptedApi api = new ScriptedApi();
    JobOptions options = JobOptions.defaults("kueue-system");
    return new JobControllerContext(
        new Reflectors(client, () -> Instant.EPOCH, new Random(1), new ReadErrorLog()),
        options,
        registry,
        new OwnerChainResolver(options, api, registry),
        (job, workload) -> false,
        (job, workload) -> false,
        api.dependencies(),
        queue,
        () -> true);
  }

  /** Notes what is done with it. */
  private final class Recorded implements JobKindController {

    private final String name;

    Recorded(String name) {
      this.name = name;
    }

    @Override
    public String name() {
      return name;
    }

    @Override
    public CompletableFuture<Void> start() {
      calls.add("start " + name);
      return CompletableFuture.completedFuture(null);
    }

    @Override
    public void leadershipStarted() {
      calls.add("lead " + name);
    }

    @Override
    public void enqueue(ObjectKey object) {}

    @Override
    public Duration longestHandling() {
      return Duration.ofSeconds(name.length());
    }

    @Override
    public void close() {
      calls.add("close " + name);
    }
  }

  private void install(String... versions) {
    served.clear();
    served.addAll(List.of(versions));
    controllers.definitionChanged("tasks.example.com");
  }

  @Test
  void aKindHasAsManyWorkersAsTheConfigurationSays() {
    List<Runnable> workers = new ArrayList<>();
    WorkQueueSettings queue =
        WorkQueueSettings.of(workers::add, (delay, task) -> {})
            .with(new GroupKindConcurrency(Map.of("Job.batch", 2, "MPIJob.kubeflow.org", 3)));
    JobControllerContext context = context(registry, queue);
    JobController jobs = new JobController(new BatchJob(), context);
    JobController mpiJobs = new JobController(new MpiJob(), context);

    for (int i = 0; i < 5; i++) {
      jobs.enqueue(new ObjectKey("team", "job-" + i));
    }
    assertThat(workers).hasSize(2);
    for (int i = 0; i < 5; i++) {
      mpiJobs.enqueue(new ObjectKey("team", "job-" + i));
    }
    assertThat(workers).hasSize(2 + 3);

    jobs.close();
    mpiJobs.close();
  }

  @Test
  void aKindWithoutDefinitionIsNotWaitedFor() {
    assertThat(controllers.dependOnDefinitions()).isTrue();
    assertThat(controllers.absent()).containsExactly(Task.KIND);

    assertThat(controllers.start()).containsOnlyKeys("jobs");
    controllers.leadershipStarted();

    assertThat(calls).containsExactly("start jobs", "lead jobs");
    assertThat(controllers.longestHandling()).isEqualTo(Duration.ofSeconds(4));
  }

  @Test
  void aKindThatIsServedAtTheStartIsListedWithTheOthers() {
    served.add("tasks.example.com/v1");

    assertThat(controllers.absent()).isEmpty();
    assertThat(controllers.start()).containsOnlyKeys("jobs", "tasks");
    assertThat(calls).containsExactly("start jobs", "start tasks");
  }

  @Test
  void aKindIsManagedFromTheMomentItIsServedUntilItIsRemoved() {
    controllers.start();
    install();
    install("tasks.example.com/v2");
    assertThat(calls).containsExactly("start jobs");

    install("tasks.example.com/v1");
    install("tasks.example.com/v1", "tasks.example.com/v2");
    assertThat(calls).containsExactly("start jobs", "start tasks");
    assertThat(registry.knows("example.com/v1", "Task")).isTrue();

    controllers.leadershipStarted();
    assertThat(calls).contains("lead tasks");
    calls.clear();

    install();
    assertThat(calls).containsExactly("close tasks", "withdrawn");
    assertThat(registry.knows("example.com/v1", "Task")).isFalse();
    assertThat(registry.knows("batch/v1", "Job")).isTrue();
    calls.clear();

    install("tasks.example.com/v1");
    assertThat(calls).containsExactly("start tasks", "lead tasks");
  }

  @Test
  void definitionsOfOtherKindsAndTheEndChangeNothing() {
    controllers.start();
    controllers.definitionChanged("jobs.batch");
    controllers.definitionChanged("steps.example.com");
    assertThat(calls).containsExactly("start jobs");

    install("tasks.example.com/v1");
    controllers.close(Runnable::run);
    assertThat(calls)
        .containsExactlyInAnyOrder("start jobs", "start tasks", "close jobs", "close tasks");
    calls.clear();

    install();
    assertThat(calls).isEmpty();
  }

  @Test
  void withoutSuchKindsNoDefinitionIsWatched() {
    IntegrationRegistry builtIn =
        new IntegrationRegistry(
            List.of(entry(new BatchJob()), entry(new Task())), List.of("batch/job"), gate -> true);
    JobControllerContext all = context();
    JobControllerContext some =
        new JobControllerContext(
            all.reflectors(),
            all.options(),
            builtIn,
            all.ownerChainResolver(),
            all.managedByCheck(),
            all.gatedCheck(),
            all.dependencies(),
            all.queue(),
            all.leading());

    assertThat(new JobControllers(some, (name, version) -> false, () -> {}).dependOnDefinitions())
        .isFalse();
  }

  /** Both see the same objects, so only one may handle them. */
  @Test
  void ofTwoVersionsOfADefinitionTheFirstThatIsServedIsHandled() {
    IntegrationRegistry both =
        new IntegrationRegistry(
            List.of(entry(new MpiJob()), entry(new LegacyMpiJob())),
            List.of(new MpiJob().kind().framework(), LegacyMpiJob.KIND.framework()),
            gate -> true);
    JobControllers versions =
        new JobControllers(context(both), (name, version) -> served.contains(version), () -> {});
    served.add("v1alpha1");
    versions.start();
    assertThat(versions.absent()).containsExactly(new MpiJob().kind());
    served.add("v2beta1");
    versions.definitionChanged("mpijobs.kubeflow.org");
    assertThat(versions.absent()).containsExactly(LegacyMpiJob.KIND);
    assertThat(calls).containsExactly("start mpijobs", "start mpijobs", "close mpijobs");
  }
}

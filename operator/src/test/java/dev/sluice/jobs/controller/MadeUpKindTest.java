package dev.sluice.jobs.controller;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.jobs.GivenJob;
import dev.sluice.jobs.ScriptedApi;
import dev.sluice.jobs.controller.Integration.ExternalOwner;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.JobKindDescription;
import dev.sluice.jobs.kind.RbacRule;
import dev.sluice.jobs.madeup.Task;
import dev.sluice.jobs.policy.CachedJob;
import dev.sluice.jobs.policy.CachedJob.CachedJobParser;
import dev.sluice.jobs.policy.JobOptions;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** A kind that is one class and one line in the registry is reconciled, and has its rights. */
class MadeUpKindTest {

  private static final Integration ENTRY = Integration.of(new Task());

  private final ScriptedApi api = new ScriptedApi();
  private final JobOptions options = JobOptions.defaults("kueue-system");
  private final JobReconciler reconciler =
      new JobReconciler(
          new Task(),
          options,
          new OwnerChainResolver(
              options, api, new IntegrationRegistry(List.of(ENTRY), List.of(), gate -> true)),
          (job, workload) -> false,
          api.dependencies(),
          1);

  private static CachedJob task() {
    return CachedJobParser.of(
        new Task(),
        GivenJob.fromYaml(
                """
                apiVersion: example.com/v1
                kind: Task
                metadata:
                  name: sample
                  namespace: team
                  uid: u-1
                  resourceVersion: "100"
                  labels: {kueue.x-k8s.io/queue-name: training}
                spec:
                  suspend: true
                  pods: 2
                  template: {spec: {containers: [{name: c, image: i}]}}
                """)
            .object());
  }

  @Test
  void itsNamesFollowFromItsGroupAndKind() {
    assertThat(Task.KIND.plural()).isEqualTo("tasks");
    assertThat(Task.KIND.framework()).isEqualTo("example.com/task");
  }

  @Test
  void itIsReconciled() throws InterruptedException {
    assertThat(reconciler.reconcile(task())).isEmpty();

    assertThat(api.calls).singleElement().asString().startsWith("create Workload task-sample-");
  }

  @Test
  void itsFrameworkTurnsItOn() {
    assertThat(ENTRY.controller()).isPresent();
    assertThat(ENTRY.isEnabled(List.of("example.com/task"), gate -> true)).isTrue();
    assertThat(ENTRY.isEnabled(List.of("batch/job"), gate -> true)).isFalse();
  }

  @Test
  void whatItWatchesIsTurnedOnWithIt() {
    JobKind inner = JobKind.of("example.com", "v1", "Step");
    JobKindDescription watching =
        new JobKindDescription() {
          @Override
          public JobKind kind() {
            return Task.KIND;
          }

          @Override
          public Set<JobKind> watches() {
            return Set.of(inner);
          }
        };
    List<Integration> entries =
        List.of(
            Integration.withoutController(watching),
            Integration.withoutController(new ExternalOwner(inner)));

    assertThat(
            new IntegrationRegistry(entries, List.of("example.com/task"), gate -> true).enabled())
        .isEqualTo(entries);
    assertThat(
            new IntegrationRegistry(entries, List.of("example.com/step"), gate -> true).enabled())
        .hasSize(1);
  }

  @Test
  void itHasTheRightsOfAController() {
    assertThat(new Task().roles())
        .containsExactly(
            new RbacRule(
                "example.com", "tasks", List.of("get", "list", "patch", "watch", "delete")),
            new RbacRule("example.com", "tasks/status", List.of("patch")),
            new RbacRule("example.com", "tasks/finalizers", List.of("update")));
  }
}

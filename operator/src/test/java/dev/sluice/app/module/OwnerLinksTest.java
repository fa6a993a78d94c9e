package dev.sluice.app.module;

import static dev.sluice.jobs.GivenJob.job;
import static dev.sluice.jobs.GivenWorkload.workloadOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.accounting.AdmissionComparison;
import dev.sluice.accounting.PodAccountant;
import dev.sluice.accounting.PodAccounts;
import dev.sluice.accounting.PodAccounts.Account;
import dev.sluice.accounting.PodRecord;
import dev.sluice.accounting.PodRecordParser;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.app.module.AccountingModule.OwnerLinks;
import dev.sluice.jobs.GivenJob;
import dev.sluice.jobs.controller.IntegrationRegistry;
import dev.sluice.jobs.controller.OwnerChainResolver;
import dev.sluice.jobs.kinds.BuiltInIntegrations;
import dev.sluice.jobs.kinds.batch.BatchJob;
import dev.sluice.jobs.kinds.pod.PodIndex;
import dev.sluice.jobs.kinds.spark.SparkApplication;
import dev.sluice.jobs.policy.CachedJob;
import dev.sluice.jobs.policy.JobOptions;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.testing.PlayedApi;
import dev.sluice.workload.KnownWorkloads;
import dev.sluice.workload.feed.AdmittedRequests;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Owners of pods that no watch has told of. */
class OwnerLinksTest {

  private static final String CHILD = "0c000000-0000-4000-8000-000000000001";

  private final PlayedApi api = new PlayedApi();
  private final KubernetesClient client = api.client();
  private final KnownWorkloads workloads = new KnownWorkloads();
  private final PodAccounts accounts =
      new PodAccounts(
          workloads,
          new AdmissionComparison(AdmittedRequests.PLAIN, workload -> false, false),
          account -> {});
  private final IntegrationRegistry registry =
      new IntegrationRegistry(
          BuiltInIntegrations.all(new PodIndex()),
          List.of(
              "batch/job",
              "jobset.x-k8s.io/jobset",
              "pod",
              "sparkoperator.k8s.io/sparkapplication"),
          gate -> true);
  private final OwnerLinks links =
      new OwnerLinks(
          new ApiClient(client, ApiClient.Options.atATime(1)),
          registry,
          new OwnerChainResolver(JobOptions.defaults("kueue-system"), workloads, registry),
          accounts);

  OwnerLinksTest() throws IOException {
    workloads.add(workloadOf(job()).admitted("spot").get());
  }

  @AfterEach
  void close() {
    client.close();
    api.close();
  }

  private static PodRecord pod(String apiVersion, String kind, String name) throws IOException {
    return new PodRecordParser(AdmittedRequests.PLAIN, image -> false)
        .of(
            JsonMappers.JSON.readTree(
                """
                {"metadata": {"namespace": "team", "name": "p",
                 "uid": "0d000000-0000-4000-8000-000000000001", "ownerReferences": [
                 {"apiVersion": "%s", "kind": "%s", "name": "%s", "uid": "%s", "controller": true}]}}
                """
                    .formatted(apiVersion, kind, name, CHILD)));
  }

  /** The API server has the Job of the pod, below the owner of a Workload. */
  private void givenTheChild(String uid) {
    api.play(
        request ->
            request.path().equals("/apis/batch/v1/namespaces/team/jobs/child")
                ? new PlayedApi.Answer(
                    200,
                    """
                    {"metadata": {"uid": "%s", "ownerReferences": [
                     {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "name": "set",
                      "uid": "%s", "controller": true}]}}
                    """
                        .formatted(uid, GivenJob.UID))
                : new PlayedApi.Answer(404, "{}"));
  }

  @Test
  void theOwnerOfAnUnknownOwnerIsRead() throws Exception {
    givenTheChild(CHILD);
    PodRecord pod = pod("batch/v1", "Job", "child");
    assertThat(accounts.accountsOf(pod)).isEmpty();
    links.read(pod);
    assertThat(accounts.accountsOf(pod)).containsExactly(new Account("team", GivenJob.UID));
  }

  @Test
  void anObjectWithAnotherUidIsNotTheOwner() throws Exception {
    givenTheChild("0c000000-0000-4000-8000-000000000002");
    PodRecord pod = pod("batch/v1", "Job", "child");
    assertThat(links.read(pod)).contains("its controller Job \"child\" doesn't exist");
    assertThat(accounts.accountsOf(pod)).isEmpty();
  }

  @Test
  void aJobAtTheTopIsTheOneToBeQueuedIfItNamesAQueue() throws Exception {
    assertThat(queued("{}")).isEmpty();
    assertThat(queued("{\"kueue.x-k8s.io/queue-name\": \"lq\"}"))
        .contains("with it a pod would run of Job \"child\", which has no Workload");
  }

  private Optional<String> queued(String labels) throws Exception {
    api.play(
        request ->
            new PlayedApi.Answer(
                200,
                """
                {"metadata": {"namespace": "team", "name": "child", "uid": "%s", "labels": %s},
                 "spec": {"suspend": false, "template": {"spec": {"containers": []}}}}
                """
                    .formatted(CHILD, labels)));
    return links.read(pod("batch/v1", "Job", "child"));
  }

  @Test
  void aQueuedJobWithoutWorkloadIsOneThatNamesAQueueAndWhoseOwnersAreKnown() {
    assertThat(withoutWorkload(job())).as("it has one").isFalse();
    workloads.known().clear();
    assertThat(withoutWorkload(job())).isTrue();
    assertThat(withoutWorkload(job().queue(""))).isFalse();

    GivenJob child = job().ownedBy("jobset.x-k8s.io/v1alpha2", "JobSet", "set", "uid-of-set");
    assertThat(withoutWorkload(child)).as("the watch of JobSets may be behind").isFalse();
  }

  private boolean withoutWorkload(GivenJob given) {
    CachedJob job = given.view();
    registry.register(BatchJob.KIND, (namespace, name) -> Optional.of(job));
    return links.withoutWorkload(job.ref()).isPresent();
  }

  /** One that isn't suspended is about to be. */
  @Test
  void podsOfASuspendedJobWithoutWorkloadAreToleratedForSeconds() {
    Duration hour = Duration.ofHours(1);
    CachedJob waiting = job().spec("suspend", "true").view();
    assertThat(OwnerLinks.tolerated(waiting, hour)).contains(PodAccountant.LEFT_BEHIND);
    assertThat(OwnerLinks.tolerated(job().spec("suspend", "false").view(), hour)).isEmpty();

    CachedJob ended = job().ended("Complete", "done").view();
    assertThat(OwnerLinks.tolerated(ended, hour)).contains(hour);
    assertThat(OwnerLinks.tolerated(ended, Duration.ZERO)).isEmpty();
  }

  /** It runs ungated for the sake of the application, whatever pod it names. */
  @Test
  void anExecutorIsCountedWithTheApplicationThatItNames() throws Exception {
    registry.register(SparkApplication.KIND, (namespace, name) -> Optional.of(job().view()));
    Instant created = job().view().createdAt();
    PodRecordParser parser =
        new PodRecordParser(AdmittedRequests.PLAIN, image -> false, links::jobBehind);
    assertThat(accounts.accountsOf(parser.of(executor("executor", created))))
        .containsExactly(new Account("team", GivenJob.UID));
    assertThat(accounts.accountsOf(parser.of(executor("driver", created)))).isEmpty();
    assertThat(accounts.accountsOf(parser.of(executor("executor", created.minusSeconds(1)))))
        .as("of an earlier application of that name")
        .isEmpty();
  }

  private static JsonNode executor(String role, Instant created) throws IOException {
    return JsonMappers.JSON.readTree(
        """
        {"metadata": {"namespace": "team", "name": "p", "creationTimestamp": "%s",
         "uid": "0d000000-0000-4000-8000-000000000001", "ownerReferences": [
         {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "%s", "controller": true}],
         "labels": {"spark-role": "%s", "sparkoperator.k8s.io/app-name": "app"}}}
        """
            .formatted(created, CHILD, role));
  }

  @Test
  void aJobThatCannotBeReadIsTold() {
    api.play(
        request ->
            new PlayedApi.Answer(
                200,
                "{\"metadata\": {\"uid\": \"%s\", \"creationTimestamp\": \"once\"}}"
                    .formatted(CHILD)));
    assertThatThrownBy(() -> links.read(pod("batch/v1", "Job", "child")))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("Job can't be read");
  }

  @Test
  void onlyKindsThatAreFollowedAndNamesOfObjectsAreRead() throws Exception {
    links.read(pod("example.com/v1", "Thing", "child"));
    links.read(pod("batch/v1", "Job", "../../../secrets/s"));
    links.read(pod("batch/v1", "Job", ".."));
    assertThat(api.asked("GET", "")).isEmpty();
  }

  @Test
  void anOwnerThatCannotBeReadIsTold() {
    api.play(request -> new PlayedApi.Answer(403, "{}"));
    assertThatThrownBy(() -> links.read(pod("batch/v1", "Job", "child")))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("jobs not read");
  }
}

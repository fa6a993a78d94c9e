package dev.sluice.webhooks.registration;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.config.JobFrameworks;
import dev.sluice.api.config.Selector;
import dev.sluice.webhooks.Reviews;
import dev.sluice.webhooks.kinds.WebhookKind;
import dev.sluice.webhooks.kinds.Webhooks;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MatchCondition;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhook;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhook;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class WebhookConfigurationsTest {

  private static final WebhookRegistration SHIPPED =
      WebhookRegistration.shipped(
          "kueue-system",
          "kueue-webhook-service",
          "system:serviceaccount:kueue-system:kueue-controller-manager");

  private static WebhookRegistration byUrl(boolean withoutQueue, Optional<Selector> namespaces) {
    return new WebhookRegistration(
        new WebhookRegistration.Url("https://127.0.0.1:9443"),
        "UEVN",
        "kueue-system",
        new WebhookRegistration.Kinds(Set.of("batch/job"), Set.of(), List.of()),
        withoutQueue ? Set.of(WebhookRegistration.Further.JOBS_WITHOUT_QUEUE_NAME) : Set.of(),
        namespaces,
        Optional.empty(),
        "IfNeeded");
  }

  @Test
  void theShippedOnesAskTheService() {
    var mutating = new WebhookConfigurations(SHIPPED).mutating();
    var validating = new WebhookConfigurations(SHIPPED).validating();

    assertThat(mutating.getMetadata().getName()).isEqualTo("kueue-mutating-webhook-configuration");
    assertThat(validating.getMetadata().getName())
        .isEqualTo("kueue-validating-webhook-configuration");
    assertThat(mutating.getWebhooks())
        .extracting(MutatingWebhook::getName)
        .startsWith("mclusterqueue.kb.io", "mresourceflavor.kb.io", "mworkload.kb.io", "mjob.kb.io")
        .contains("mpod.kb.io", "mdeployment.kb.io", "mstatefulset.kb.io", "mjobset.kb.io")
        .containsAll(names("m", ""))
        .containsAll(names("m", "-without-queue"))
        .hasSize(3 + integrated() + JobFrameworks.shipped().size());
    assertThat(validating.getWebhooks())
        .extracting(ValidatingWebhook::getName)
        .startsWith("vclusterqueue.kb.io", "vresourceflavor.kb.io", "vworkload.kb.io")
        .contains("vpod.kb.io", "vdeployment.kb.io", "vstatefulset.kb.io", "vjobset.kb.io")
        .containsAll(names("v", ""))
        .hasSize(11 + integrated());
    assertThat(validating.getWebhooks())
        .filteredOn(it -> it.getFailurePolicy().equals("Fail"))
        .hasSize(11 + JobFrameworks.shipped().size());
    assertThat(validating.getWebhooks())
        .allSatisfy(
            it -> {
              assertThat(it.getSideEffects()).isEqualTo("None");
              assertThat(it.getAdmissionReviewVersions()).containsExactly("v1");
              assertThat(it.getClientConfig().getService().getName())
                  .isEqualTo("kueue-webhook-service");
              assertThat(it.getClientConfig().getService().getPort()).isEqualTo(443);
              assertThat(it.getRules().getFirst().getOperations())
                  .containsExactly("CREATE", "UPDATE");
            });
    assertThat(validating.getWebhooks().get(2).getRules().getFirst().getResources())
        .containsExactly("workloads", "workloads/status");
    assertThat(validating.getWebhooks().get(2).getMatchConditions().getFirst().getExpression())
        .isEqualTo(
            "request.userInfo.username !="
                + " 'system:serviceaccount:kueue-system:kueue-controller-manager'");
  }

  /** The API server would ask the writer itself, and wait for the answer. */
  @Test
  void theOperatorIsNotAskedAboutItsOwnUpdatesOfJobs() {
    String user = "system:serviceaccount:kueue-system:kueue-controller-manager";
    assertThat(new WebhookConfigurations(SHIPPED).validating().getWebhooks())
        .filteredOn(it -> it.getNamespaceSelector() != null)
        .hasSize(integrated())
        .allSatisfy(
            it ->
                assertThat(it.getMatchConditions().getFirst())
                    .isEqualTo(
                        new MatchCondition(
                            "request.operation == 'CREATE' || request.userInfo.username != '"
                                + user
                                + "'",
                            "not-the-operator")));
    assertThat(
            new WebhookConfigurations(byUrl(true, Optional.empty()).trusting(Optional.of(user)))
                .validating()
                .getWebhooks())
        .filteredOn(it -> it.getNamespaceSelector() != null)
        .isNotEmpty()
        .allSatisfy(
            it ->
                assertThat(it.getMatchConditions())
                    .extracting(MatchCondition::getName)
                    .containsExactly("not-the-operator", "more-than-its-end"));
  }

  /** Garbage collection goes on while no operator answers. */
  @Test
  void nobodyIsAskedAboutTheEndOfAJob() {
    WebhookConfigurations shipped = new WebhookConfigurations(SHIPPED);
    assertThat(shipped.validating().getWebhooks())
        .filteredOn(it -> it.getNamespaceSelector() != null)
        .isNotEmpty()
        .allSatisfy(
            it ->
                assertThat(it.getMatchConditions())
                    .extracting(MatchCondition::getName)
                    .contains("more-than-its-end"));
    assertThat(shipped.mutating().getWebhooks())
        .filteredOn(it -> it.getFailurePolicy().equals("Fail"))
        .filteredOn(it -> it.getNamespaceSelector() != null)
        .filteredOn(it -> it.getRules().getFirst().getOperations().contains("UPDATE"))
        .isNotEmpty()
        .allSatisfy(
            it ->
                assertThat(it.getMatchConditions())
                    .extracting(MatchCondition::getName)
                    .contains("more-than-its-end"));
  }

  /** What it fills in is needed: the queue that it writes must get into the templates, too. */
  @Test
  void whatIsFilledInIsAskedOfTheOperatorToo() {
    assertThat(new WebhookConfigurations(SHIPPED).mutating().getWebhooks())
        .filteredOn(it -> it.getNamespaceSelector() != null)
        .flatExtracting(MutatingWebhook::getMatchConditions)
        .extracting(MatchCondition::getName)
        .doesNotContain("not-the-operator");
  }

  @Test
  void withoutAKnownUserNothingIsLeftOut() {
    WebhookConfigurations local = new WebhookConfigurations(byUrl(false, Optional.empty()));
    assertThat(local.validating().getWebhooks())
        .flatExtracting(ValidatingWebhook::getMatchConditions)
        .extracting(MatchCondition::getExpression)
        .noneMatch(expression -> expression.contains("userInfo"));
  }

  @Test
  void onlyAJobWithoutQueueMayPassWhileTheOperatorIsAway() {
    assertThat(new WebhookConfigurations(SHIPPED).mutating().getWebhooks())
        .filteredOn(it -> it.getFailurePolicy().equals("Ignore"))
        .extracting(MutatingWebhook::getName)
        .contains(
            "mjob-without-queue.kb.io",
            "mpod-without-queue.kb.io",
            "mdeployment-without-queue.kb.io",
            "mstatefulset-without-queue.kb.io")
        .allMatch(name -> name.endsWith("-without-queue.kb.io") || !names("m", "").contains(name));
  }

  /** Names of the webhooks of the shipped kinds of jobs. */
  private static List<String> names(String prefix, String suffix) {
    return WebhookKind.all().stream()
        .filter(kind -> JobFrameworks.shipped().contains(kind.framework()))
        .map(kind -> prefix + kind.lowerKind() + suffix + ".kb.io")
        .toList();
  }

  private static int integrated() {
    return JobFrameworks.integrated().size();
  }

  @Test
  void whatIsOnlyPreparedHoldsNothingUp() {
    var registration =
        new WebhookRegistration(
            new WebhookRegistration.Url("https://127.0.0.1:9443"),
            "",
            "kueue-system",
            new WebhookRegistration.Kinds(
                Set.of("batch/job"), Set.of("pod", "deployment", "statefulset"), List.of()),
            Set.of(),
            Optional.empty(),
            Optional.empty(),
            "Never");

    assertThat(new WebhookConfigurations(registration).mutating().getWebhooks())
        .filteredOn(it -> it.getFailurePolicy().equals("Ignore"))
        .extracting(MutatingWebhook::getName)
        .containsExactly(
            "mjob-without-queue.kb.io", "mpod.kb.io", "mdeployment.kb.io", "mstatefulset.kb.io");
    assertThat(new WebhookConfigurations(registration).validating().getWebhooks())
        .filteredOn(it -> it.getFailurePolicy().equals("Ignore"))
        .extracting(ValidatingWebhook::getName)
        .containsExactly("vpod.kb.io", "vdeployment.kb.io", "vstatefulset.kb.io");
  }

  private static List<String> policies(Set<String> frameworks, boolean withoutQueue) {
    var webhooks =
        new WebhookConfigurations(
            new WebhookRegistration(
                new WebhookRegistration.Url("https://127.0.0.1:9443"),
                "",
                "kueue-system",
                new WebhookRegistration.Kinds(frameworks, Set.of(), List.of()),
                withoutQueue
                    ? Set.of(WebhookRegistration.Further.JOBS_WITHOUT_QUEUE_NAME)
                    : Set.of(),
                Optional.empty(),
                Optional.empty(),
                "Never"));
    return Stream.concat(
            webhooks.mutating().getWebhooks().stream()
                .map(it -> it.getName() + " " + it.getFailurePolicy()),
            webhooks.validating().getWebhooks().stream()
                .map(it -> it.getName() + " " + it.getFailurePolicy()))
        .filter(it -> it.contains("pod") || it.contains("deployment") || it.contains("statefulset"))
        .toList();
  }

  @Test
  void podsAreAskedAboutWhereSomethingIsOnThatHoldsThemBack() {
    assertThat(policies(Set.of("batch/job"), true)).isEmpty();
    assertThat(policies(Set.of("statefulset"), false))
        .containsExactly(
            "mpod.kb.io Ignore",
            "mstatefulset.kb.io Fail",
            "mstatefulset-without-queue.kb.io Ignore",
            "vpod.kb.io Ignore",
            "vstatefulset.kb.io Fail");
    assertThat(policies(Set.of("pod"), false))
        .containsExactly("mpod.kb.io Fail", "mpod-without-queue.kb.io Ignore", "vpod.kb.io Fail");
    assertThat(policies(Set.of("pod", "deployment"), true))
        .containsExactly(
            "mpod.kb.io Fail",
            "mdeployment.kb.io Fail",
            "vpod.kb.io Fail",
            "vdeployment.kb.io Fail");
  }

  @Test
  void podsOfTheSystemAndOfTheOperatorAreNeverAskedAbout() {
    WebhookConfigurations all = new WebhookConfigurations(SHIPPED);
    assertThat(
            Stream.concat(
                all.mutating().getWebhooks().stream()
                    .filter(it -> it.getName().equals("mpod.kb.io"))
                    .map(MutatingWebhook::getNamespaceSelector),
                all.validating().getWebhooks().stream()
                    .filter(it -> it.getName().equals("vpod.kb.io"))
                    .map(ValidatingWebhook::getNamespaceSelector)))
        .hasSize(2)
        .allSatisfy(
            it ->
                assertThat(it.getMatchExpressions().getFirst().getValues())
                    .containsExactly("kube-system", "kueue-system"));
  }

  @Test
  void wherAllJobsAreManagedAllAreAskedAbout() {
    var mutating = new WebhookConfigurations(byUrl(true, Optional.empty())).mutating();
    assertThat(mutating.getWebhooks())
        .filteredOn(it -> it.getName().contains("job"))
        .singleElement()
        .satisfies(
            it -> {
              assertThat(it.getFailurePolicy()).isEqualTo("Fail");
              assertThat(it.getMatchConditions()).isEmpty();
              assertThat(it.getReinvocationPolicy()).isEqualTo("IfNeeded");
              assertThat(it.getClientConfig().getUrl())
                  .isEqualTo("https://127.0.0.1:9443/mutate-batch-v1-job");
              assertThat(it.getClientConfig().getCaBundle()).isEqualTo("UEVN");
            });
  }

  @Test
  void jobsOfTheSystemAreNeverAskedAbout() {
    var job = new WebhookConfigurations(SHIPPED).mutating().getWebhooks().get(3);
    assertThat(job.getNamespaceSelector().getMatchExpressions())
        .singleElement()
        .satisfies(
            it -> {
              assertThat(it.getKey()).isEqualTo("kubernetes.io/metadata.name");
              assertThat(it.getOperator()).isEqualTo("NotIn");
              assertThat(it.getValues()).containsExactly("kube-system", "kueue-system");
            });
  }

  @Test
  void theConfiguredNamespacesAreTakenOver() {
    Selector teams = new Selector(Map.of("team", "ml"), List.of());
    var job =
        new WebhookConfigurations(byUrl(false, Optional.of(teams)))
            .validating()
            .getWebhooks()
            .getLast();
    assertThat(job.getNamespaceSelector().getMatchLabels()).containsEntry("team", "ml");
    assertThat(job.getNamespaceSelector().getMatchExpressions()).isEmpty();
  }

  @Test
  void whatIsRegisteredHasAFunction() {
    Set<String> paths = Webhooks.functions(Reviews.settings(), Reviews.Cluster.EMPTY).keySet();
    WebhookConfigurations all = new WebhookConfigurations(SHIPPED);
    assertThat(all.mutating().getWebhooks())
        .allSatisfy(it -> assertThat(paths).contains(it.getClientConfig().getService().getPath()));
    assertThat(all.validating().getWebhooks())
        .allSatisfy(it -> assertThat(paths).contains(it.getClientConfig().getService().getPath()));
  }
}

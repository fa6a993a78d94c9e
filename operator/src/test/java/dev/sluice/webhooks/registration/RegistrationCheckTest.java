package dev.sluice.webhooks.registration;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.config.Selector;
import io.fabric8.kubernetes.api.model.LabelSelector;
import io.fabric8.kubernetes.api.model.LabelSelectorBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfigurationBuilder;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RegistrationCheckTest {

  private static final Set<String> JOBS = Set.of("batch/job");
  private static final Set<String> ALL = Set.of("batch/job", "pod", "deployment", "statefulset");
  private static final String NAME = "kubernetes.io/metadata.name";

  private static WebhookRegistration registration(
      Set<String> frameworks, boolean withoutQueue, String... notIn) {
    return new WebhookRegistration(
        new WebhookRegistration.Url("https://127.0.0.1:9443"),
        "",
        "kueue-system",
        new WebhookRegistration.Kinds(frameworks, Set.of(), List.of()),
        withoutQueue ? Set.of(WebhookRegistration.Further.JOBS_WITHOUT_QUEUE_NAME) : Set.of(),
        Optional.of(
            new Selector(
                Map.of(),
                List.of(new Selector.Requirement(NAME, Selector.Operator.NOT_IN, List.of(notIn))))),
        Optional.empty(),
        "Never");
  }

  private static WebhookRegistration registration(Set<String> frameworks) {
    return registration(frameworks, false, "kube-system", "kueue-system");
  }

  private static RegistrationCheck.Result compare(
      WebhookRegistration found, WebhookRegistration needed) {
    WebhookConfigurations configurations = new WebhookConfigurations(found);
    return RegistrationCheck.compare(
        Optional.of(configurations.mutating()), Optional.of(configurations.validating()), needed);
  }

  private static void assertNothingMissing(RegistrationCheck.Result result) {
    assertThat(result.missing()).isEmpty();
    assertThat(result.failingOpen()).isEmpty();
  }

  @Test
  void whatLeavesOutTheOperatorsOwnWritesIsSufficient() {
    for (boolean withoutQueue : List.of(false, true)) {
      WebhookRegistration needed = registration(ALL, withoutQueue, "kube-system", "kueue-system");
      assertNothingMissing(compare(needed.trusting(Optional.of("somebody")), needed));
    }
  }

  @Test
  void whatWasInstalledForTheSameConfigurationIsSufficient() {
    for (Set<String> frameworks : List.of(JOBS, ALL, Set.of("statefulset"))) {
      assertNothingMissing(compare(registration(frameworks), registration(frameworks)));
      WebhookRegistration all = registration(frameworks, true, "kube-system", "kueue-system");
      assertNothingMissing(compare(all, all));
    }
  }

  @Test
  void podsOfJobsAreAskedAboutAtAPathOfTheirOwn() {
    WebhookRegistration without = registration(ALL, true, "kube-system", "kueue-system");
    WebhookRegistration with =
        new WebhookRegistration(
            without.target(),
            "",
            "kueue-system",
            new WebhookRegistration.Kinds(ALL, Set.of(), List.of()),
            Set.of(WebhookRegistration.Further.values()),
            without.managedNamespaces(),
            Optional.empty(),
            "Never");

    assertNothingMissing(compare(with, with));
    assertNothingMissing(compare(with.trusting(Optional.of("somebody")), with));
    assertThat(compare(without, with).missing())
        .hasSize(5)
        .allSatisfy(missing -> assertThat(missing).contains("of pods"));
  }

  @Test
  void theShippedRegistrationIsSufficientForAllKindsAndForFewer() {
    WebhookRegistration shipped =
        WebhookRegistration.shipped("kueue-system", "kueue-webhook-service", "operator");

    assertNothingMissing(compare(shipped, registration(ALL)));
    assertNothingMissing(compare(shipped, registration(JOBS)));
    assertNothingMissing(
        compare(shipped, registration(ALL, false, "kube-system", "kueue-system", "legacy")));
  }

  @Test
  void aKindThatIsNotRegisteredIsNamed() {
    assertThat(compare(registration(JOBS), registration(Set.of("batch/job", "pod"))).missing())
        .containsExactly(
            "MutatingWebhookConfiguration kueue-mutating-webhook-configuration has no rule for"
                + " CREATE of pods",
            "ValidatingWebhookConfiguration kueue-validating-webhook-configuration has no rule for"
                + " CREATE of pods",
            "ValidatingWebhookConfiguration kueue-validating-webhook-configuration has no rule for"
                + " CREATE of pods/resize",
            "ValidatingWebhookConfiguration kueue-validating-webhook-configuration has no rule for"
                + " UPDATE of pods",
            "ValidatingWebhookConfiguration kueue-validating-webhook-configuration has no rule for"
                + " UPDATE of pods/resize");
    assertThat(compare(registration(JOBS), registration(Set.of("deployment"))).missing())
        .anyMatch(line -> line.endsWith("CREATE of deployments.apps"))
        .anyMatch(line -> line.endsWith("CREATE of pods"));
  }

  @Test
  void aRegistrationThatDoesNotExistIsNamed() {
    assertThat(
            RegistrationCheck.compare(Optional.empty(), Optional.empty(), registration(JOBS))
                .missing())
        .containsExactly(
            "MutatingWebhookConfiguration kueue-mutating-webhook-configuration does not exist",
            "ValidatingWebhookConfiguration kueue-validating-webhook-configuration does not exist");
  }

  @Test
  void jobsWithoutQueueNameMustBeAskedAboutWhereTheyAreManaged() {
    assertThat(
            compare(
                    registration(JOBS, false, "kube-system"),
                    registration(JOBS, true, "kube-system"))
                .missing())
        .first()
        .asString()
        .endsWith("jobs that name no queue, which manageJobsWithoutQueueName needs");
    assertNothingMissing(
        compare(registration(JOBS, true, "kube-system"), registration(JOBS, false, "kube-system")));
  }

  @Test
  void aWebhookWithAConditionOfItsOwnIsNotSufficient() {
    MutatingWebhookConfiguration narrowed =
        new MutatingWebhookConfigurationBuilder(
                new WebhookConfigurations(registration(JOBS)).mutating())
            .build();
    narrowed
        .getWebhooks()
        .removeIf(webhook -> webhook.getName().equals("mjob-without-queue.kb.io"));

    assertThat(
            RegistrationCheck.compare(
                    Optional.of(narrowed),
                    Optional.of(new WebhookConfigurations(registration(JOBS)).validating()),
                    registration(JOBS))
                .missing())
        .containsExactly(
            "MutatingWebhookConfiguration kueue-mutating-webhook-configuration has no rule for"
                + " CREATE of jobs under the condition names-no-queue");
  }

  @Test
  void namespacesThatAreManagedMustBeAskedAbout() {
    assertThat(
            compare(
                    registration(JOBS, false, "kube-system", "kueue-system", "legacy"),
                    registration(JOBS))
                .missing())
        .first()
        .asString()
        .endsWith("CREATE of jobs in all namespaces that managedJobsNamespaceSelector selects");
  }

  @Test
  void aKindThatIsOnlyPreparedIsNotSufficient() {
    WebhookRegistration prepared =
        new WebhookRegistration(
            new WebhookRegistration.Url("https://127.0.0.1:9443"),
            "",
            "kueue-system",
            new WebhookRegistration.Kinds(
                JOBS, Set.of("pod", "deployment", "statefulset"), List.of()),
            Set.of(),
            Optional.empty(),
            Optional.empty(),
            "Never");

    assertThat(compare(prepared, registration(Set.of("batch/job", "pod"))).missing())
        .containsExactly(
            "MutatingWebhookConfiguration kueue-mutating-webhook-configuration has no rule for"
                + " CREATE of pods under the condition names-no-queue");
  }

  @Test
  void whatFailsOpenIsSaid() {
    WebhookConfigurations jobs = new WebhookConfigurations(registration(JOBS));
    MutatingWebhookConfiguration open = jobs.mutating();
    open.getWebhooks().forEach(webhook -> webhook.setFailurePolicy("Ignore"));

    RegistrationCheck.Result result =
        RegistrationCheck.compare(
            Optional.of(open), Optional.of(jobs.validating()), registration(JOBS));

    assertThat(result.missing()).isEmpty();
    assertThat(result.failingOpen())
        .contains(
            "CREATE of jobs in MutatingWebhookConfiguration kueue-mutating-webhook-configuration")
        .noneMatch(line -> line.contains("Validating"));
  }

  @Test
  void selectorsAreComparedByWhatTheyMean() {
    LabelSelector ofTeam = selector("team", "In", "a", "b");
    assertThat(RegistrationCheck.includes(null, ofTeam)).isTrue();
    assertThat(RegistrationCheck.includes(new LabelSelector(), ofTeam)).isTrue();
    assertThat(RegistrationCheck.includes(ofTeam, null)).isFalse();
    assertThat(RegistrationCheck.includes(selector("team", "In", "a", "b", "c"), ofTeam)).isTrue();
    assertThat(RegistrationCheck.includes(selector("team", "In", "a"), ofTeam)).isFalse();
    assertThat(RegistrationCheck.includes(selector("team", "NotIn", "c"), ofTeam)).isTrue();
    assertThat(RegistrationCheck.includes(selector("team", "NotIn", "b"), ofTeam)).isFalse();
    assertThat(RegistrationCheck.includes(selector("team", "Exists"), ofTeam)).isTrue();
    assertThat(RegistrationCheck.includes(selector("other", "Exists"), ofTeam)).isFalse();
    assertThat(
            RegistrationCheck.includes(
                new LabelSelectorBuilder().addToMatchLabels("team", "a").build(),
                selector("team", "In", "a")))
        .isTrue();
    assertThat(
            RegistrationCheck.includes(
                selector("team", "NotIn", "a"), selector("team", "DoesNotExist")))
        .isTrue();
  }

  private static LabelSelector selector(String key, String operator, String... values) {
    return new LabelSelectorBuilder()
        .addNewMatchExpression()
        .withKey(key)
        .withOperator(operator)
        .withValues(values)
        .endMatchExpression()
        .build();
  }
}

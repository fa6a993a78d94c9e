package dev.sluice.webhooks.kinds;

import static dev.sluice.webhooks.Reviews.create;
import static dev.sluice.webhooks.Reviews.edited;
import static dev.sluice.webhooks.Reviews.messages;
import static dev.sluice.webhooks.Reviews.set;
import static dev.sluice.webhooks.Reviews.update;
import static dev.sluice.webhooks.Reviews.yaml;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.sluice.JobKindReader;
import dev.sluice.jobs.kind.DeclaredJob;
import dev.sluice.jobs.madeup.Task;
import dev.sluice.webhooks.Reviews;
import dev.sluice.webhooks.registration.WebhookConfigurations;
import dev.sluice.webhooks.registration.WebhookRegistration;
import dev.sluice.webhooks.review.AdmissionFunction;
import dev.sluice.webhooks.review.AdmissionResult;
import dev.sluice.webhooks.review.WebhookRouter.AdmissionRequest;
import dev.sluice.webhooks.rules.WebhookSettings;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhook;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.RuleWithOperations;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhook;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** A kind gets its webhooks from its integration alone. */
class MadeUpKindWebhooksTest {

  private static final String MUTATE = "/mutate-example-com-v1-task";
  private static final String VALIDATE = "/validate-example-com-v1-task";
  private static final List<WebhookKind> KINDS = WebhookKind.with(List.of(new Task()));
  private static final JsonNode QUEUED =
      yaml(
          """
          apiVersion: example.com/v1
          kind: Task
          metadata: {name: a, namespace: team, labels: {kueue.x-k8s.io/queue-name: training}}
          spec: {pods: 2}
          """);

  private static Map<String, AdmissionFunction> functions(String framework) {
    WebhookSettings some = Reviews.settings();
    return Webhooks.functions(
        new WebhookSettings(
            false, some.managedNamespaces(), Set.of(framework), some.gates(), some.working()),
        Reviews.Cluster.EMPTY,
        KINDS);
  }

  private static AdmissionResult review(String framework, String path, AdmissionRequest request) {
    return functions(framework)
        .getOrDefault(path, any -> AdmissionResult.allowed())
        .review(request);
  }

  private static List<String> refused(AdmissionRequest request) {
    return messages(review("example.com/task", VALIDATE, request));
  }

  @Test
  void itIsRegisteredWhereItsFrameworkIsOn() {
    MutatingWebhook webhook =
        new WebhookConfigurations(registration("example.com/task"), KINDS)
            .mutating().getWebhooks().stream()
                .filter(each -> each.getName().equals("mtask.kb.io"))
                .findFirst()
                .orElseThrow();
    RuleWithOperations rule = webhook.getRules().getFirst();

    assertThat(webhook.getClientConfig().getUrl()).endsWith(MUTATE);
    assertThat(webhook.getFailurePolicy()).isEqualTo("Fail");
    assertThat(rule.getApiGroups()).containsExactly("example.com");
    assertThat(rule.getResources()).containsExactly("tasks");
    assertThat(rule.getOperations()).containsExactly("CREATE");
    assertThat(
            new WebhookConfigurations(registration("example.com/task"), KINDS)
                .validating()
                .getWebhooks())
        .anyMatch(each -> each.getName().equals("vtask.kb.io"));
    assertThat(new WebhookConfigurations(registration("batch/job"), KINDS).mutating().getWebhooks())
        .noneMatch(each -> each.getName().startsWith("mtask"));
  }

  /** Kinds of one name in two groups. */
  @Test
  void eachWebhookHasANameOfItsOwn() {
    DeclaredJob other =
        new DeclaredJob(
            JobKindReader.read(
                    "tasks.other.example.com",
                    yaml(
                        """
                        version: v1
                        kind: Task
                        podSets: [{name: main, template: .spec.template}]
                        status:
                          running: [{field: .status.active}]
                          succeeded: [{condition: Complete}]
                          failed: [{condition: Failed}]
                        """))
                .declaration()
                .orElseThrow());
    WebhookConfigurations both =
        new WebhookConfigurations(
            registration("example.com/task", "other.example.com/task"),
            WebhookKind.with(List.of(new Task(), other)));

    assertThat(both.mutating().getWebhooks())
        .extracting(MutatingWebhook::getName)
        .contains("mtask.kb.io", "mtask.other.example.com.kb.io")
        .doesNotHaveDuplicates();
    assertThat(both.validating().getWebhooks())
        .extracting(ValidatingWebhook::getName)
        .contains("vtask.kb.io", "vtask.other.example.com.kb.io")
        .doesNotHaveDuplicates();
  }

  private static WebhookRegistration registration(String... frameworks) {
    return new WebhookRegistration(
        new WebhookRegistration.Url("https://127.0.0.1:9443"),
        "",
        "kueue-system",
        new WebhookRegistration.Kinds(Set.of(frameworks), Set.of(), List.of()),
        Set.of(),
        Optional.empty(),
        Optional.empty(),
        "Never");
  }

  @Test
  void aManagedJobIsSuspended() {
    assertThat(Reviews.patch(review("example.com/task", MUTATE, create(QUEUED))))
        .containsExactly("{\"op\":\"add\",\"path\":\"/spec/suspend\",\"value\":true}");
    assertThat(
            Reviews.patch(
                review(
                    "example.com/task",
                    MUTATE,
                    create(edited(QUEUED, set("/metadata/labels", "{}"))))))
        .isEmpty();
    assertThat(Reviews.patch(review("batch/job", MUTATE, create(QUEUED)))).isEmpty();
  }

  @Test
  void itsQueueIsNamedRightAndChangesWhileItIsSuspendedOnly() {
    JsonNode suspended = edited(QUEUED, set("/spec/suspend", "true"));
    String queue = "/metadata/labels/kueue.x-k8s.io~1queue-name";

    assertThat(refused(create(edited(QUEUED, set(queue, "Not_A_Name")))))
        .singleElement()
        .asString()
        .startsWith("metadata.labels[kueue.x-k8s.io/queue-name]: Invalid value: \"Not_A_Name\"");
    assertThat(refused(update(suspended, edited(suspended, set(queue, "other"))))).isEmpty();
    assertThat(refused(update(QUEUED, edited(QUEUED, set(queue, "other"))))).hasSize(1);
  }

  @Test
  void aJobThatMayRunHereIsNotManagedElsewhereOnly() {
    JsonNode both =
        edited(
            QUEUED,
            set("/metadata/annotations", "{sluice.dev/may-run-here: \"true\"}"),
            set("/spec/managedBy", "kueue.x-k8s.io/multikueue"));

    assertThat(refused(create(both)))
        .containsExactly(
            "metadata.annotations[sluice.dev/may-run-here]: Forbidden: a job with spec.managedBy"
                + " kueue.x-k8s.io/multikueue runs in other clusters only");
  }

  @Test
  void theRemoteStatusIsWrittenByTheOperatorAlone() {
    JsonNode told =
        edited(QUEUED, set("/metadata/annotations", "{sluice.dev/remote-status: \"{}\"}"));

    assertThat(refused(create(told))).singleElement().asString().contains("remote-status");
  }
}

package dev.sluice.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.app.module.StartRequirements;
import dev.sluice.install.InstallManifests;
import dev.sluice.lab.process.OperatorAccount;
import dev.sluice.lab.process.OperatorSettings;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.LocalOperator;
import dev.sluice.testing.TestCluster;
import dev.sluice.visibility.api.VisibilityApi;
import dev.sluice.webhooks.registration.WebhookConfigurations;
import dev.sluice.webhooks.registration.WebhookRegistration;
import io.fabric8.kubernetes.api.model.APIService;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ServiceAccountBuilder;
import io.fabric8.kubernetes.api.model.apiextensions.v1.ServiceReferenceBuilder;
import io.fabric8.kubernetes.api.model.apiextensions.v1.WebhookClientConfig;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** An operator that installs nothing starts only if the API server asks about what it manages. */
@ControlPlaneTest(exclusive = true, fresh = false)
@Execution(ExecutionMode.SAME_THREAD)
@Tag(BuildBreadth.NIGHTLY)
class RegistrationsIT {

  private static final String JOBS = "integrations: {frameworks: [batch/job]}\n";
  private static final String PODS = "integrations: {frameworks: [batch/job, pod]}\n";

  private final OperatorSettings settings = OperatorSettings.onFreePorts(new Random());

  @Test
  void aStartWithMoreKindsThanAreRegisteredIsRefused(TestCluster cluster, @TempDir Path directory)
      throws Exception {
    LocalOperator.start("installs-jobs", cluster.kubeconfig(), settings.with(JOBS)).close();

    OperatorRunner.Options pods = options(cluster, directory, PODS);
    assertThatThrownBy(() -> OperatorRunner.start(pods, end -> {}))
        .isInstanceOf(StartRequirements.MissingException.class)
        .hasMessageStartingWith(
            """
            the webhook registrations lack what the configuration needs. Upgrade the chart with \
            this configuration, or start once with --install
              MutatingWebhookConfiguration kueue-mutating-webhook-configuration
                has no rule for CREATE of pods
            """)
        .hasMessageContaining(
            """
              ValidatingWebhookConfiguration kueue-validating-webhook-configuration
                has no rule for CREATE of pods
            """);

    try (OperatorApplication same =
        OperatorRunner.start(options(cluster, directory, JOBS), end -> {})) {
      assertThat(same).isNotNull();
    }

    cluster
        .client()
        .admissionRegistration()
        .v1()
        .validatingWebhookConfigurations()
        .withName(WebhookConfigurations.VALIDATING)
        .delete();
    assertThatThrownBy(
            () -> OperatorRunner.start(options(cluster, directory, JOBS), end -> {}).close())
        .isInstanceOf(StartRequirements.MissingException.class)
        .hasMessageEndingWith(
            "--install\n"
                + "  ValidatingWebhookConfiguration kueue-validating-webhook-configuration\n"
                + "    does not exist");
  }

  @Test
  void anOperatorWithoutRightsEndsWithASentenceThatNamesThem(
      TestCluster cluster, @TempDir Path directory) throws Exception {
    LocalOperator.start("installs-rights", cluster.kubeconfig(), settings.with(JOBS)).close();
    cluster
        .client()
        .resource(
            new ServiceAccountBuilder()
                .withNewMetadata()
                .withName("powerless")
                .withNamespace(InstallManifests.NAMESPACE)
                .endMetadata()
                .build())
        .createOr(existing -> existing.update());
    Path kubeconfig = directory.resolve("powerless");
    Files.writeString(
        kubeconfig,
        OperatorAccount.kubeconfig(
            cluster.client(), OperatorAccount.token(cluster.client(), "powerless")));
    Path file = directory.resolve("config.yaml");
    Files.writeString(file, settings.with(JOBS).yaml());
    StringWriter err = new StringWriter();

    int code =
        Main.commandLine()
            .setErr(new PrintWriter(err, true))
            .execute(
                "operator", "--kubeconfig", kubeconfig.toString(), "--config", file.toString());

    assertThat(code).isEqualTo(3);
    assertThat(err.toString().strip().lines())
        .singleElement()
        .asString()
        .contains("this operator has no right to")
        .contains("create, delete, get, list, patch, watch workloads")
        .contains("ClusterRole kueue-manager-role");
  }

  @Test
  void uninstallTakesAwayWhatInstallApplied(TestCluster cluster) {
    LocalOperator.start("to-be-uninstalled", cluster.kubeconfig(), settings.with(JOBS)).close();
    List<HasMetadata> objects = new ArrayList<>(InstallManifests.permissions("kueue-system"));
    objects.removeIf(object -> object.getKind().equals("Namespace"));
    objects.addAll(
        InstallManifests.webhooks(
            WebhookRegistration.shipped("kueue-system", "kueue-webhook-service", "operator")));
    assertThat(objects)
        .allSatisfy(object -> assertThat(cluster.client().resource(object).get()).isNotNull());

    assertThat(converter(cluster).getUrl()).as("an address until then").isNotNull();
    assertThat(visibilityApis(cluster)).as("those of a process that has ended").isEmpty();

    StringWriter out = new StringWriter();
    int code =
        Main.commandLine()
            .setOut(new PrintWriter(out, true))
            .execute("uninstall", "--kubeconfig", cluster.kubeconfig().toString());

    assertThat(code).isZero();
    assertThat(out.toString())
        .contains("uninstalled", "older versions are refused until an operator converts them");
    assertThat(converter(cluster).getUrl()).isNull();
    assertThat(converter(cluster).getService().getName())
        .as("what converted nothing would lose fields")
        .isEqualTo("kueue-webhook-service");
    assertThat(objects)
        .allSatisfy(object -> assertThat(cluster.client().resource(object).get()).isNull());
    assertThat(
            cluster
                .client()
                .apiextensions()
                .v1()
                .customResourceDefinitions()
                .withName("workloads.kueue.x-k8s.io")
                .get())
        .as("definitions stay without --definitions")
        .isNotNull();
    assertThat(
            Main.commandLine()
                .execute("uninstall", "--kubeconfig", cluster.kubeconfig().toString()))
        .as("once more")
        .isZero();
  }

  @Test
  void whatAnotherInstallerMadeLeadsToThisProcessAfterwards(TestCluster cluster) {
    LocalOperator.start("before-another", cluster.kubeconfig(), settings.with(JOBS)).close();
    WebhookRegistration shipped =
        WebhookRegistration.shipped("kueue-system", "kueue-webhook-service", "operator");
    for (HasMetadata registration : InstallManifests.webhooks(shipped)) {
      cluster.client().resource(registration).delete();
      cluster.client().resource(registration).create();
    }
    cluster
        .client()
        .apiextensions()
        .v1()
        .customResourceDefinitions()
        .withName("workloads.kueue.x-k8s.io")
        .edit(
            definition -> {
              WebhookClientConfig target =
                  definition.getSpec().getConversion().getWebhook().getClientConfig();
              target.setUrl(null);
              target.setService(
                  new ServiceReferenceBuilder()
                      .withName("kueue-webhook-service")
                      .withNamespace("kueue-system")
                      .build());
              return definition;
            });

    LocalOperator.start("after-another", cluster.kubeconfig(), settings.with(JOBS)).close();

    assertThat(converter(cluster).getUrl()).isNotNull();
    assertThat(converter(cluster).getService()).isNull();
    assertThat(
            cluster
                .client()
                .admissionRegistration()
                .v1()
                .validatingWebhookConfigurations()
                .withName(WebhookConfigurations.VALIDATING)
                .require()
                .getWebhooks())
        .extracting(webhook -> webhook.getClientConfig())
        .allSatisfy(
            target -> {
              assertThat(target.getUrl()).isNotNull();
              assertThat(target.getService()).isNull();
            });
  }

  private static List<String> visibilityApis(TestCluster cluster) {
    return cluster.client().resources(APIService.class).list().getItems().stream()
        .map(found -> found.getMetadata().getName())
        .filter(name -> name.endsWith(VisibilityApi.GROUP))
        .toList();
  }

  private static WebhookClientConfig converter(TestCluster cluster) {
    return cluster
        .client()
        .apiextensions()
        .v1()
        .customResourceDefinitions()
        .withName("workloads.kueue.x-k8s.io")
        .require()
        .getSpec()
        .getConversion()
        .getWebhook()
        .getClientConfig();
  }

  private OperatorRunner.Options options(TestCluster cluster, Path directory, String fields)
      throws Exception {
    Path file = directory.resolve("configuration.yaml");
    Files.writeString(file, settings.with(fields).yaml());
    return new OperatorRunner.Options(
        Optional.of(cluster.kubeconfig()),
        Optional.of(file),
        Optional.empty(),
        false,
        false,
        "127.0.0.1",
        Optional.empty(),
        Path.of("none"));
  }
}

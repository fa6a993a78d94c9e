package dev.sluice.checks.multikueue.access;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.api.config.MultiKueue.AccessProvider;
import dev.sluice.api.v1beta2.MultiKueueCluster.ClusterProfileReference;
import dev.sluice.api.v1beta2.MultiKueueCluster.ClusterSource;
import dev.sluice.checks.multikueue.access.WorkerAccess.ClusterReason;
import dev.sluice.checks.multikueue.access.WorkerCredentials.ExecPlugin;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** ClusterProfiles, and what is made of them. */
class ClusterProfileValidatorTest {

  private static final String V1 = "client.authentication.k8s.io/v1";

  private static JsonNode json(String text) throws Exception {
    return new ObjectMapper().readTree(text.replace('\'', '"').replace("CA", Pems.CERTIFICATE));
  }

  private static AccessProvider provider(
      String name, String version, String mode, boolean provideClusterInfo) {
    return new AccessProvider(
        name,
        "/plugins/login",
        version,
        mode,
        List.of("--quiet"),
        Map.of("REGION", "eu"),
        provideClusterInfo);
  }

  private static ClusterProfileValidator rules(AccessProvider... providers) {
    return new ClusterProfileValidator(List.of(providers));
  }

  private static WorkerCredentials usable(ClusterProfileValidator rules, String profile)
      throws Exception {
    WorkerAccess workerAccess = rules.read("ns/site", json(profile));
    assertThat(workerAccess).isInstanceOf(WorkerAccess.Usable.class);
    return ((WorkerAccess.Usable) workerAccess).workerCredentials();
  }

  @Test
  void placeComesFromTheProfileAndTheProgramFromTheConfiguration() throws Exception {
    WorkerCredentials workerCredentials =
        usable(
            rules(provider("cloud", V1, "Never", true)),
            """
            {'status': {'accessProviders': [
              {'name': 'unheard-of', 'cluster': {'server': 'https://else'}},
              {'name': 'cloud', 'cluster': {'server': 'https://site:6443',
                'certificate-authority-data': 'CA',
                'extensions': [
                  {'name': 'else', 'extension': {}},
                  {'name': 'client.authentication.k8s.io/exec', 'extension': {'id': 7}}]}}]}}
            """);

    assertThat(workerCredentials.server()).hasToString("https://site:6443");
    assertThat(workerCredentials.endpoint().authority()).hasValue(Pems.CERTIFICATE);
    assertThat(workerCredentials.token()).isEmpty();
    ExecPlugin plugin = workerCredentials.plugin().orElseThrow();
    assertThat(plugin.command()).isEqualTo("/plugins/login");
    assertThat(plugin.args()).containsExactly("--quiet");
    assertThat(plugin.env()).containsExactly(Map.entry("REGION", "eu"));
    assertThat(plugin.info())
        .isEqualTo(
            json(
                """
                {'apiVersion': 'client.authentication.k8s.io/v1', 'kind': 'ExecCredential',
                 'spec': {'interactive': false, 'cluster': {'server': 'https://site:6443',
                   'certificate-authority-data': 'CA', 'config': {'id': 7}}}}
                """));
  }

  @Test
  void aProgramThatIsNotToKnowTheClusterIsNotToldOfIt() throws Exception {
    WorkerCredentials workerCredentials =
        usable(
            rules(provider("cloud", "client.authentication.k8s.io/v1beta1", "IfAvailable", false)),
            "{'status': {'accessProviders': [{'name': 'cloud', 'cluster': {'server':"
                + " 'https://site'}}]}}");

    assertThat(workerCredentials.plugin().orElseThrow().info())
        .isEqualTo(
            json(
                "{'apiVersion': 'client.authentication.k8s.io/v1beta1', 'kind': 'ExecCredential',"
                    + " 'spec': {'interactive': false}}"));
  }

  @Test
  void theOldNameOfTheListIsReadToo() throws Exception {
    WorkerCredentials workerCredentials =
        usable(
            rules(provider("cloud", V1, "Never", true)),
            "{'status': {'credentialProviders': [{'name': 'cloud', 'cluster': {'server':"
                + " 'https://site'}}]}}");

    assertThat(workerCredentials.server()).hasToString("https://site");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          {} | status.accessProviders: is empty; allowed: cloud
          {'name': 'a', 'cluster': {}} | status.accessProviders: a is not configured; allowed: cloud
          {'name': 'cloud'} | status.accessProviders[cloud].cluster.server: is missing; allowed: https://host, or https://host:port
          {'name': 'cloud', 'cluster': {'server': 'http://site'}} | status.accessProviders[cloud].cluster.server: "http://site" is not encrypted; allowed: https://host, or https://host:port
          {'name': 'cloud', 'cluster': {'server': 'https://site', 'insecure-skip-tls-verify': true}} | status.accessProviders[cloud].cluster.insecure-skip-tls-verify: true is not allowed; allowed: false or absent; the certificate of the server is always verified
          {'name': 'cloud', 'cluster': {'server': 'https://site', 'certificate-authority': '/ca'}} | status.accessProviders[cloud].cluster.certificate-authority: "/ca" is a file, which is not allowed; allowed: certificate-authority-data with the certificates themselves
          {'name': 'cloud', 'cluster': {'server': 'https://site', 'certificate-authority-data': 'eA=='}} | status.accessProviders[cloud].cluster.certificate-authority-data: holds no certificate; allowed: base64 of PEM certificates
          """)
  void aProfileThatDoesNotSayWhereTheClusterIsIsRefused(String way, String message)
      throws Exception {
    String list = way.equals("{}") ? "[]" : "[" + way + "]";

    assertThat(
            rules(provider("cloud", V1, "Never", true))
                .read("ns/site", json("{'status': {'accessProviders': " + list + "}}")))
        .isEqualTo(
            new WorkerAccess.Refused(
                ClusterReason.BAD_CLUSTER_PROFILE, "ClusterProfile \"ns/site\": " + message));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          client.authentication.k8s.io/v1 | Always | multiKueue.clusterProfile.accessProviders[cloud].execConfig.interactiveMode: Always needs a terminal, which the operator hasn't; allowed: Never, IfAvailable
          client.authentication.k8s.io/v1alpha1 | Never | multiKueue.clusterProfile.accessProviders[cloud].execConfig.apiVersion: "client.authentication.k8s.io/v1alpha1" is not supported; allowed: client.authentication.k8s.io/v1, client.authentication.k8s.io/v1beta1
          """)
  void aProgramThatCannotBeRunIsRefused(String version, String mode, String message)
      throws Exception {
    assertThat(
            rules(provider("cloud", version, mode, true))
                .read(
                    "ns/site",
                    json(
                        "{'status': {'accessProviders': [{'name': 'cloud', 'cluster': {'server':"
                            + " 'https://site'}}]}}")))
        .isEqualTo(
            new WorkerAccess.Refused(
                ClusterReason.BAD_REST_CONFIG, "ClusterProfile \"ns/site\": " + message));
  }

  @Test
  void withoutProvidersInTheConfigurationNoProfileCanBeUsed() throws Exception {
    assertThat(rules().read("ns/site", json("{}")))
        .isEqualTo(
            new WorkerAccess.Refused(
                ClusterReason.BAD_CLUSTER_PROFILE,
                "ClusterProfile \"ns/site\": status.accessProviders: is empty; allowed: names in"
                    + " multiKueue.clusterProfile.accessProviders of the configuration, which has"
                    + " none"));
  }

  private static WorkerAccess of(Optional<WorkerCredentialsResolver.Profiles> profiles) {
    return new WorkerCredentialsResolver(
            "ns",
            name -> Optional.empty(),
            () -> true,
            new KubeconfigFiles(Path.of("/none"), true),
            profiles)
        .of(new ClusterSource(new ClusterProfileReference("site"), null));
  }

  private static WorkerCredentialsResolver.Profiles profiles(
      Optional<JsonNode> found, boolean listed) {
    return new WorkerCredentialsResolver.Profiles(
        rules(provider("cloud", V1, "Never", true)), name -> found, () -> listed);
  }

  @Test
  void aProfileIsUsedWithTheGateAlone() throws Exception {
    assertThat(of(Optional.empty()))
        .isEqualTo(
            new WorkerAccess.Refused(
                ClusterReason.CLUSTER_PROFILE_FEATURE_DISABLED,
                "clusterSource.clusterProfileRef: needs the feature gate MultiKueueClusterProfile,"
                    + " which is off; allowed: kubeConfig"));
    assertThat(of(Optional.of(profiles(Optional.empty(), false))))
        .isEqualTo(new WorkerAccess.Unknown());
    assertThat(of(Optional.of(profiles(Optional.empty(), true))))
        .isEqualTo(
            new WorkerAccess.Refused(
                ClusterReason.BAD_CLUSTER_PROFILE,
                "clusterSource.clusterProfileRef.name: ClusterProfile \"ns/site\" does not exist;"
                    + " allowed: a ClusterProfile of multicluster.x-k8s.io/v1alpha1 in that"
                    + " namespace"));
    JsonNode good =
        json(
            "{'status': {'accessProviders': [{'name': 'cloud', 'cluster': {'server':"
                + " 'https://site'}}]}}");
    assertThat(of(Optional.of(profiles(Optional.of(good), true))))
        .isInstanceOf(WorkerAccess.Usable.class);
  }
}

package dev.sluice.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.app.module.StartRequirements;
import dev.sluice.install.Installer;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.server.mock.EnableKubernetesMockClient;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** What is said in one line when the operator can't start. */
@EnableKubernetesMockClient
class OperatorCommandTest {

  private static final String API = "/apis/kueue.x-k8s.io/v1beta2";

  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesMockServer server;

  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesClient client;

  @Test
  void theVersionAloneIsToldWithoutSubcommands() {
    String[] version = {"--version"};
    StringWriter alone = new StringWriter();
    StringWriter full = new StringWriter();
    CommandLine line = Main.alone(version).orElseThrow();

    assertThat(line.getSubcommands()).isEmpty();
    assertThat(line.setOut(new PrintWriter(alone)).execute(version)).isZero();
    Main.commandLine().setOut(new PrintWriter(full)).execute(version);
    assertThat(alone.toString()).isEqualTo(full.toString()).startsWith("sluice ");
  }

  @Test
  void aMissingKubeconfigIsNamed() {
    StringWriter err = new StringWriter();

    int code = run(err, "/no/such");

    assertThat(err.toString())
        .isEqualToIgnoringNewLines("sluice: the operator could not start: /no/such does not exist");
    assertThat(code).isEqualTo(3);
  }

  @Test
  void aFileThatIsNoKubeconfigIsNamed(@TempDir Path directory) throws IOException {
    Path file = Files.writeString(directory.resolve("kc"), "- a: [");
    StringWriter err = new StringWriter();

    int code = run(err, file.toString());

    assertThat(err.toString())
        .startsWith("sluice: the operator could not start: " + file + " is not a kubeconfig")
        .hasLineCount(1);
    assertThat(code).isEqualTo(3);
  }

  @Test
  void explainAndOperatorAreTheSameCommandsWithoutTheOthers() {
    assertTheSame("Usage: sluice explain", "explain", "workload", "--help");
    assertTheSame("Usage: sluice operator", "operator", "--help");
    assertThat(Main.alone(new String[] {"uninstall"})).isEmpty();
    assertThat(Main.alone(new String[0])).isEmpty();
    assertThat(Main.alone(new String[] {"--version", "operator"})).isEmpty();
  }

  private static void assertTheSame(String begin, String... help) {
    StringWriter whole = new StringWriter();
    StringWriter alone = new StringWriter();
    Main.commandLine().setOut(new PrintWriter(whole)).execute(help);
    Main.alone(help).orElseThrow().setOut(new PrintWriter(alone)).execute(help);

    assertThat(alone.toString()).isEqualTo(whole.toString()).startsWith(begin);
  }

  @Test
  void missingDefinitionsAreNamed() {
    assertThatThrownBy(() -> StartRequirements.check(client, "kueue-system"))
        .isInstanceOf(StartRequirements.MissingException.class)
        .hasMessageStartingWith("the definitions of kueue.x-k8s.io are not installed;");

    serve("workloads");

    assertThatThrownBy(() -> StartRequirements.check(client, "kueue-system"))
        .isInstanceOf(StartRequirements.MissingException.class)
        .hasMessageContaining("clusterqueues, ")
        .hasMessageEndingWith("or use --install");
  }

  @Test
  void aMissingNamespaceIsNamed() throws IOException {
    serve(Installer.PLURALS.toArray(String[]::new));

    assertThatThrownBy(() -> StartRequirements.check(client, "kueue-system"))
        .isInstanceOf(StartRequirements.MissingException.class)
        .hasMessageStartingWith("the namespace kueue-system does not exist;");

    server
        .expect()
        .get()
        .withPath("/api/v1/namespaces/kueue-system")
        .andReturn(
            200,
            new NamespaceBuilder().withNewMetadata().withName("kueue-system").endMetadata().build())
        .once();

    StartRequirements.check(client, "kueue-system");
  }

  private void serve(String... plurals) {
    String resources =
        Arrays.stream(plurals)
            .map("{\"name\": \"%s\"}"::formatted)
            .collect(Collectors.joining(", "));
    server
        .expect()
        .get()
        .withPath(API)
        .andReturn(200, "{\"resources\": [" + resources + "]}")
        .always();
  }

  private static int run(StringWriter err, String kubeconfig) {
    return Main.commandLine()
        .setErr(new PrintWriter(err, true))
        .execute("operator", "--kubeconfig", kubeconfig);
  }
}

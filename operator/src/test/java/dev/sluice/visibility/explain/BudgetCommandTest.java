package dev.sluice.visibility.explain;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonMappers;
import io.fabric8.kubernetes.api.model.StatusBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.server.mock.EnableKubernetesMockClient;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** What the command tells of a Budget (docs/budgets.md#status). */
@EnableKubernetesMockClient(https = false)
class BudgetCommandTest {

  private static final String BUDGET = "/apis/sluice.dev/v1alpha1/budgets/team";
  private static final String WORKLOADS = "/apis/kueue.x-k8s.io/v1beta2/workloads?limit=500";
  private static final String OF_CONTEXT =
      "/apis/kueue.x-k8s.io/v1beta2/namespaces/vision/workloads?limit=500";

  @TempDir private Path directory = Path.of("");

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesMockServer server;

  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesClient client;

  private int run(String... arguments) throws IOException {
    Path kubeconfig =
        Files.writeString(
            directory.resolve("kc"),
            """
            apiVersion: v1
            kind: Config
            clusters: [{name: a, cluster: {server: "%s"}}]
            users: [{name: u, user: {token: x}}]
            contexts: [{name: c, context: {cluster: a, user: u, namespace: vision}}]
            current-context: c
            """
                .formatted(client.getConfiguration().getMasterUrl()));
    String[] all = Arrays.copyOf(arguments, arguments.length + 2);
    all[arguments.length] = "--kubeconfig";
    all[arguments.length + 1] = kubeconfig.toString();
    return new CommandLine(new BudgetCommand())
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setOut(new PrintWriter(out))
        .setErr(new PrintWriter(err))
        .execute(all);
  }

  private void serve(String path, int code, String yaml) throws IOException {
    server.expect().get().withPath(path).andReturn(code, JsonMappers.YAML.readTree(yaml)).always();
  }

  /** Refuses one request. */
  private void refuse(String path, int code) {
    server
        .expect()
        .get()
        .withPath(path)
        .andReturn(code, new StatusBuilder().withCode(code).build())
        .once();
  }

  private void given() throws IOException {
    serve(
        BUDGET,
        200,
        """
        metadata: {name: team}
        spec: {action: Hold}
        status:
          period: {start: "2026-03-01T00:00:00Z", end: "2026-04-01T00:00:00Z"}
          expectedExhaustion: "2026-03-20T00:00:00Z"
          limits:
          - {resource: cpu, flavors: [spot, safe], limit: "100", spent: "60", reserved: "10", remaining: "30"}
        """);
  }

  private static String waiting(String name, String message) {
    return "{metadata: {namespace: vision, name: %s}, status: {conditions: [{type: QuotaReserved,"
            .formatted(name)
        + " status: 'False', message: '%s'}]}}".formatted(message);
  }

  @Test
  void limitsAndThoseWhoAreHeldAreTold() throws IOException {
    given();
    serve(
        WORKLOADS,
        200,
        "{items: [%s, %s], metadata: {continue: more}}"
            .formatted(
                waiting("a", "BudgetExhausted: Budget team has 60 spent"),
                waiting("b", "BudgetExhausted: Budget teams has 60 spent")));
    serve(
        WORKLOADS + "&continue=more",
        200,
        "{items: [%s]}".formatted(waiting("c", "BudgetExhausted: Budget team has 60 spent")));
    assertThat(run("team")).as(err.toString()).isZero();
    assertThat(out.toString())
        .isEqualTo(
            """
            Budget team, 2026-03-01T00:00:00Z to 2026-04-01T00:00:00Z, spent 2026-03-20T00:00:00Z at this rate
            RESOURCE                     FLAVORS                     LIMIT        SPENT     RESERVED    REMAINING
            cpu                          spot,safe                     100           60           10           30
            held:
              vision/a: BudgetExhausted: Budget team has 60 spent
              vision/c: BudgetExhausted: Budget team has 60 spent
            """);
  }

  @Test
  void aRollingWindowHasNoEnd() throws IOException {
    serve(
        BUDGET,
        200,
        "{metadata: {name: team}, status: {period: {start: \"2026-03-01T00:00:00Z\"}}}");
    serve(WORKLOADS, 200, "{items: []}");
    assertThat(run("team")).as(err.toString()).isZero();
    assertThat(out.toString()).startsWith("Budget team, since 2026-03-01T00:00:00Z\n");
  }

  @Test
  void whoMayNotListWorkloadsSeesTheLimits() throws IOException {
    given();
    refuse(WORKLOADS, 403);
    refuse(OF_CONTEXT, 403);
    assertThat(run("team", "-o", "json")).as(err.toString()).isZero();
    JsonNode told = JsonMappers.JSON.readTree(out.toString());
    assertThat(told.path("name").asText()).isEqualTo("team");
    assertThat(told.at("/limits/0/remaining").asText()).isEqualTo("30");
    assertThat(told.path("held").isEmpty()).isTrue();
    assertThat(err.toString()).contains("you may not list Workloads");
  }

  /** As kubectl sluice budget does. */
  @Test
  void whoMayListWorkloadsOfTheContextsNamespaceSeesThose() throws IOException {
    given();
    refuse(WORKLOADS, 403);
    serve(
        OF_CONTEXT,
        200,
        "{items: [%s]}".formatted(waiting("a", "BudgetExhausted: Budget team has 60 spent")));
    assertThat(run("team")).as(err.toString()).isZero();
    assertThat(out.toString())
        .endsWith(
            "held in namespace vision:\n  vision/a: BudgetExhausted: Budget team has 60 spent\n");
    assertThat(err.toString()).isEmpty();
  }

  @Test
  void nothingHeldInTheContextsNamespaceIsTold() throws IOException {
    given();
    refuse(WORKLOADS, 403);
    serve(OF_CONTEXT, 200, "{items: []}");
    assertThat(run("team")).as(err.toString()).isZero();
    assertThat(out.toString()).endsWith("nothing is held in namespace vision\n");
  }

  @Test
  void aListThatExpiresIsReadAnew() throws IOException {
    given();
    serve(
        WORKLOADS,
        200,
        "{items: [%s], metadata: {continue: more}}"
            .formatted(waiting("a", "BudgetExhausted: Budget team has 60 spent")));
    refuse(WORKLOADS + "&continue=more", 410);
    serve(WORKLOADS + "&continue=more", 200, "{items: []}");
    assertThat(run("team", "-o", "json")).as(err.toString()).isZero();
    assertThat(JsonMappers.JSON.readTree(out.toString()).path("held")).hasSize(1);
  }

  @Test
  void aSpecThatIsNotUnderstoodIsTold() throws IOException {
    serve(
        BUDGET,
        200,
        "{metadata: {name: team}, status: {conditions: [{type: Active, status: 'False',"
            + " message: wrong}]}}");
    serve(WORKLOADS, 200, "{items: []}");
    assertThat(run("team")).isZero();
    assertThat(out.toString()).isEqualTo("Budget team counts nothing: wrong\n");
  }

  @Test
  void aBudgetThatIsNotThereIsRefused() throws IOException {
    assertThat(run("none")).isEqualTo(1);
    assertThat(err.toString()).startsWith("sluice: ").hasLineCount(1);
    assertThat(run()).as("no name").isEqualTo(2);
  }
}

package dev.sluice.lab;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is said, and with which exit code, when a command is called in a wrong way. */
class WrongCallsTest {

  private static final int MOST_LINES = 4;

  @TempDir private Path directory;

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "operater | 2 | did you mean operator?",
        "frobnicate | 2 | Unmatched argument at index 0: 'frobnicate'",
        "--verbose | 2 | Unknown option: '--verbose'",
        "operator --instal | 2 | did you mean --install?",
        "operator extra | 2 | 'extra'",
        "operator --log-level=loud | 2 | --log-level: \"loud\" is not error, warn, info, debug or",
        "operator --zap-encoder=xml | 2 | --zap-encoder: \"xml\" is not json or console",
        "operator --log-decisions=perhaps | 2 | 'perhaps' is not a boolean",
        "operator --feature-gates=Foo=true | 2 | --feature-gates Foo: unknown feature gate",
        "operator --feature-gates=PartialAdmission=maybe | 2 | allowed: NAME=true or NAME=false",
        "operator --config=none.yaml | 2 | none.yaml has 1 problem:",
        "operator --config=binary | 2 | is no text in UTF-8",
        "operator --config=list.yaml | 2 | list.yaml has",
        "operator --config=typo.yaml | 2 | manageJobsWithoutQueueNames: unknown field",
        "operator --kubeconfig=none | 3 | none does not exist",
        "operator --kubeconfig=binary | 3 | binary is not a kubeconfig: it is no text in UTF-8",
        "operator --kubeconfig=typo.yaml | 3 | it has no current context with a cluster",
        "preflight --kubeconfig=none | 3 | none does not exist",
        "preflight --kubeconfig=binary | 3 | binary is not a kubeconfig: it is no text in UTF-8",
        "preflight --kubeconfig=typo.yaml | 3 | it has no current context with a cluster",
        "preflight --config=none.yaml | 2 | none.yaml has 1 problem:",
        "preflight --confg=x | 2 | did you mean --config?",
        "uninstall extra | 2 | 'extra'",
        "uninstall --kubeconfig=none | 3 | none does not exist",
        "uninstall --kubeconfig=typo.yaml | 3 | it has no current context with a cluster",
        "importer check | 2 | Missing required option: '--namespace=NS'",
        "importer check --namespace=a --queuename=b | 2 | Unknown option: '--queuename=b'",
        "explain workload | 2 | Missing required parameter: 'NAME'",
        "explain workload x --kubeconfig=none | 3 | none does not exist",
        "explain workload x --kubeconfig=typo.yaml | 3 | it has no current context with a cluster",
        "explain topology x | 2 | Missing required option: --operator=URL",
        "demo now | 2 | 'now'",
        "demo --api-version=v3 | 2 | --api-version",
        "bench nothing | 2 | scenario \"nothing\": neither a file nor one of baseline,",
        "control-plane down --name=nope | 1 | there is no control plane named \"nope\"",
        "control-plane up --x | 2 | Unknown option: '--x'",
        "explain workload x --kubeconfig=gone.yaml | 3 | the API server at https://127.0.0.1:1 can't",
        "explain job x --kubeconfig=gone.yaml | 3 | the API server at https://127.0.0.1:1 can't",
        "explain job x --kubeconfig=none | 3 | none does not exist",
        "usage --kubeconfig=gone.yaml | 3 | the API server at https://127.0.0.1:1 can't",
        "usage --kubeconfig=none | 3 | none does not exist",
        "usage --since=yesterday --kubeconfig=gone.yaml | 2 | --since",
        "usage --delete --kubeconfig=gone.yaml | 2 | --delete needs a namespace",
        "usage --output=xml | 2 | --output",
        "simulate | 2 | Missing required option: '--filename=FILE'",
        "simulate -f none | 3 | none does not exist",
        "simulate -f docs --kubeconfig=gone.yaml | 3 | docs: it is a directory",
        "preflight --kubeconfig=gone.yaml | 3 | the API server at https://127.0.0.1:1 can't",
        "uninstall --kubeconfig=gone.yaml | 3 | the API server at https://127.0.0.1:1 can't",
        "uninstall --timeout=0 | 2 | --timeout is 0, must be 1 or more",
        "operator --kubeconfig=gone.yaml | 3 | the API server at https://127.0.0.1:1 can't",
        "demo --kubeconfig=gone.yaml | 3 | the API server at https://127.0.0.1:1",
        "demo --without-operator | 2 | allowed together with --kubeconfig only",
        "demo --real | 2 | Unknown option: '--real'",
        "try --for=long | 2 | --for",
        "explain pods x | 2 | 'pods'",
        "explain workloda x | 2 | did you mean workload?",
        "control-plane up --nodes=-1 | 2 | --nodes is -1, must be 0 or more",
        "journal dmp | 2 | 'dmp'",
        "replay | 2 | Missing required",
      })
  void isToldInAFewLines(String call, int code, String told) throws IOException {
    Files.write(directory.resolve("binary"), new byte[] {(byte) 0xca, (byte) 0xfe, (byte) 0xba});
    Files.writeString(directory.resolve("list.yaml"), "- a");
    Files.writeString(
        directory.resolve("typo.yaml"),
        """
        apiVersion: config.kueue.x-k8s.io/v1beta2
        kind: Configuration
        manageJobsWithoutQueueNames: true
        """);
    Files.writeString(
        directory.resolve("gone.yaml"),
        """
        current-context: a
        contexts: [{name: a, context: {cluster: a, user: a}}]
        clusters: [{name: a, cluster: {server: "https://127.0.0.1:1"}}]
        users: [{name: a, user: {token: a}}]
        """);
    StringWriter said = new StringWriter();
    PrintWriter writer = new PrintWriter(said, true);

    String[] args =
        Arrays.stream(call.split(" ", -1))
            .map(it -> it.replaceFirst("^(--(config|kubeconfig)=)", "$1" + directory + "/"))
            .toArray(String[]::new);
    int actual = LabMain.commandLine().setErr(writer).setOut(writer).execute(args);

    assertThat(said.toString()).contains(told).doesNotContain("Exception").doesNotContain("\tat ");
    assertThat(said.toString().lines().count()).as("%s", said).isLessThanOrEqualTo(MOST_LINES);
    assertThat(actual).isEqualTo(code);
  }
}

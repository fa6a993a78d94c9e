package dev.sluice.visibility.explain;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.kube.client.KubeconfigOption;
import dev.sluice.visibility.api.VisibilityApi;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The command {@code sluice simulate -f FILE}. */
@Command(
    name = "simulate",
    description = {
      "Says what would become of a job: would it get quota now, after a preemption, later, or never.",
      "Nothing is created. You need the permission to create the job."
    },
    mixinStandardHelpOptions = true,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:it was answered, whatever the answer is",
      "1:it was refused: the job is wrong or is not queued, you may not create it, or too many ask",
      "2:the command line is wrong",
      "3:the API server can't be reached, or a file can't be read"
    })
public final class SimulateCommand implements Callable<Integer> {

  private static final String STANDARD_INPUT = "-";

  /** What is printed. */
  private enum Output {
    TEXT,
    JSON
  }

  @Spec private CommandSpec spec = CommandSpec.create();

  @Option(
      names = {"-f", "--filename"},
      paramLabel = "FILE",
      required = true,
      description = "The manifest of the job, YAML or JSON; - for standard input.")
  private String file = "";

  @Option(
      names = {"-n", "--namespace"},
      paramLabel = "NS",
      description =
          "Its namespace; that of the manifest, else that of the kubeconfig's context unless given.")
  private @Nullable String namespace;

  @Option(
      names = "--queue",
      paramLabel = "Q",
      description = "The LocalQueue, in place of the one that the manifest names.")
  private @Nullable String queue;

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FORMAT",
      description = "text or json; text unless given.")
  private Output output = Output.TEXT;

  @Mixin private KubeconfigOption kubeconfig = new KubeconfigOption();

  @Override
  public Integer call() {
    return kubeconfig.exitCode(spec, this::ask);
  }

  private int ask() throws IOException {
    PrintWriter out = spec.commandLine().getOut();
    String manifest =
        file.equals(STANDARD_INPUT)
            ? new String(System.in.readAllBytes(), StandardCharsets.UTF_8)
            : text(Path.of(file));
    Config config = kubeconfig.config();
    try (KubernetesClient client = new KubernetesClientBuilder().withConfig(config).build()) {
      out.println(client.raw(path(manifest, config), "POST", manifest));
    }
    out.flush();
    return 0;
  }

  private static String text(Path manifest) throws IOException {
    if (Files.isDirectory(manifest)) {
      throw new FileSystemException(manifest.toString(), null, "it is a directory");
    }
    return Files.readString(manifest);
  }

  private String path(String manifest, Config config) throws IOException {
    String in =
        Optional.ofNullable(namespace)
            .or(() -> Optional.of(namespaceOf(manifest)).filter(named -> !named.isEmpty()))
            .or(() -> Optional.ofNullable(config.getNamespace()))
            .orElse("default");
    return "/apis/%s/%s/namespaces/%s/%s?output=%s%s"
        .formatted(
            VisibilityApi.GROUP,
            VisibilityApi.VERSIONS.getFirst(),
            encoded(in),
            VisibilityApi.SIMULATIONS,
            output == Output.JSON ? "json" : "text",
            queue == null ? "" : "&queue=" + encoded(queue));
  }

  /** The namespace that a manifest names; empty if it names none, or is none. */
  private static String namespaceOf(String manifest) {
    try {
      JsonNode tree = JsonMappers.YAML.readTree(manifest);
      return tree.path("metadata").path("namespace").asText();
    } catch (IOException noManifest) {
      return ""; // the operator says what is wrong
    }
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }
}

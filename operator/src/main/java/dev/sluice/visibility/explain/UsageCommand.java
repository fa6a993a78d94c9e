package dev.sluice.visibility.explain;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.kube.client.KubeconfigOption;
import dev.sluice.ledger.UsageDocument;
import dev.sluice.ledger.UsageQuery;
import dev.sluice.ledger.UsageReport;
import dev.sluice.ledger.UsageRows;
import dev.sluice.visibility.api.VisibilityApi;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** The command {@code sluice usage}. */
@Command(
    name = "usage",
    description = {
      "Says what was used, from the ledger; see docs/ledger.md.",
      "You need the permission to list usage in the group visibility.kueue.x-k8s.io."
    },
    mixinStandardHelpOptions = true,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:it was answered",
      "1:it was refused: you may not ask, there is no ledger, or its database is away",
      "2:the command line is wrong",
      "3:the API server can't be reached"
    })
public final class UsageCommand implements Callable<Integer> {

  @Spec private CommandSpec spec = CommandSpec.create();

  @Option(
      names = "--by",
      paramLabel = "GROUPS",
      description =
          "What is told apart besides flavor and resource: "
              + UsageQuery.ALLOWED
              + "; queue unless given.")
  private String by = "queue";

  @Option(
      names = "--since",
      paramLabel = "TIME",
      converter = Time.class,
      description =
          "A time, or how long ago, such as 30d or 12h; 30d unless given, with --budget its"
              + " period.")
  private @Nullable Instant since;

  @Option(
      names = "--until",
      paramLabel = "TIME",
      converter = Time.class,
      description = "A time, or how long ago; now unless given.")
  private Instant until = InstantSource.system().instant();

  @Option(
      names = {"-n", "--namespace"},
      paramLabel = "NS",
      description = "The only namespace; all of them unless given.")
  private @Nullable String namespace;

  @Option(
      names = "--budget",
      paramLabel = "NAME",
      description =
          "Only what this Budget counts: of its scope, in its period unless --since says.")
  private @Nullable String budget;

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FORMAT",
      description = "table, csv, json, focus or opencost; table unless given.")
  private UsageReport.Format format = UsageReport.Format.TABLE;

  @Option(
      names = "--rows",
      description =
          "Prints the attempts of the namespace that have ended: a line of JSON for each attempt,"
              + " flavor and resource.")
  private boolean rows;

  @Option(
      names = "--delete",
      description = "Deletes the attempts of the namespace that have ended, and prints how many.")
  private boolean deletes;

  @Mixin private KubeconfigOption kubeconfig = new KubeconfigOption();

  /** A time as RFC 3339 has it, or a duration before now, with days too. */
  static final class Time implements ITypeConverter<Instant> {
    @Override
    public Instant convert(String text) {
      try {
        return UsageQuery.time(text, InstantSource.system().instant());
      } catch (IllegalArgumentException e) {
        throw new TypeConversionException(String.valueOf(e.getMessage()));
      }
    }
  }

  @Override
  public Integer call() {
    if (deletes && namespace == null) {
      throw new ParameterException(spec.commandLine(), "--delete needs a namespace");
    }
    if (rows && (namespace == null || deletes)) {
      throw new ParameterException(
          spec.commandLine(), "--rows needs a namespace, and is not allowed with --delete");
    }
    return kubeconfig.exitCode(spec, this::ask);
  }

  private int ask() throws IOException {
    PrintWriter out = spec.commandLine().getOut();
    PrintWriter err = spec.commandLine().getErr();
    try (KubernetesClient client =
        new KubernetesClientBuilder().withConfig(kubeconfig.config()).build()) {
      if (deletes) {
        out.println(client.raw(path(), "DELETE", null));
        out.flush();
        return 0;
      }
      if (rows) {
        printRows(client, out);
        return 0;
      }
      String answer =
          client.raw(
              "%s?by=%s&until=%s%s%s"
                  .formatted(
                      path(),
                      encoded(by),
                      encoded(until.toString()),
                      since == null ? "" : "&since=" + encoded(since.toString()),
                      budget == null ? "" : "&budget=" + encoded(budget)),
              "GET",
              null);
      UsageRows rows = UsageDocument.parse(JsonMappers.JSON.readTree(answer));
      out.print(new UsageReport(rows).in(format));
      if (rows.incomplete()) {
        err.println("sluice: there are more rows than an answer may have; ask for less");
      }
      out.flush();
      return 0;
    }
  }

  private void printRows(KubernetesClient client, PrintWriter out) throws IOException {
    String next = "";
    do {
      String answer =
          client.raw(
              path() + "?output=rows" + (next.isEmpty() ? "" : "&continue=" + encoded(next)),
              "GET",
              null);
      JsonNode page = JsonMappers.JSON.readTree(answer == null ? "{}" : answer);
      page.path("rows").forEach(out::println);
      out.flush();
      next = page.path("continue").asText();
    } while (!next.isEmpty());
  }

  private String path() {
    return "/apis/%s/%s%s/%s"
        .formatted(
            VisibilityApi.GROUP,
            VisibilityApi.VERSIONS.getFirst(),
            Optional.ofNullable(namespace).map(name -> "/namespaces/" + encoded(name)).orElse(""),
            VisibilityApi.USAGE);
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }
}

package dev.sluice.visibility.explain;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.ApiVersions;
import dev.sluice.api.json.JsonFields;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.kube.client.KubeconfigOption;
import dev.sluice.ledger.UsageDocument;
import dev.sluice.ledger.UsageReport;
import dev.sluice.visibility.api.VisibilityApi;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command {@code sluice budget}. */
@Command(
    name = "budget",
    description = {
      "Says what is left of a Budget, until when, whom it holds and who spent it; see"
          + " docs/budgets.md.",
      "You need the permission to get Budgets; who lists Workloads and usage sees those, too."
    },
    mixinStandardHelpOptions = true,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:it was answered",
      "1:it was refused: you may not ask, or there is no such Budget",
      "2:the command line is wrong",
      "3:the API server can't be reached"
    })
public final class BudgetCommand implements Callable<Integer> {

  private static final int FORBIDDEN = 403;
  private static final int EXPIRED = 410;
  private static final int PAGE = 500;
  private static final String ROW = "%-28s %-20s %12s %12s %12s %12s%n";

  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(index = "0", paramLabel = "NAME", description = "The name of the Budget.")
  private String name = "";

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FORMAT",
      description = "table or json; table unless given.")
  private Format format = Format.TABLE;

  @Mixin private KubeconfigOption kubeconfig = new KubeconfigOption();

  /** The only namespace whose Workloads could be listed; empty for all. */
  private String only = "";

  /** How the answer is printed. */
  public enum Format {
    /** For people. */
    TABLE,
    /** An object for programs. */
    JSON
  }

  /** A Workload that the Budget holds. */
  private record Held(String workload, String message) {}

  @Override
  public Integer call() {
    return kubeconfig.exitCode(spec, this::ask);
  }

  private int ask() throws IOException {
    PrintWriter out = spec.commandLine().getOut();
    try (KubernetesClient client =
        new KubernetesClientBuilder().withConfig(kubeconfig.config()).build()) {
      JsonNode budget =
          read(
              client,
              "/apis/%s/%s/budgets/%s"
                  .formatted(ApiVersions.SLUICE_GROUP, ApiVersions.SLUICE_VERSION, encoded(name)));
      List<Held> held = held(client);
      if (format == Format.JSON) {
        out.println(
            JsonMappers.JSON
                .writerWithDefaultPrettyPrinter()
                .writeValueAsString(json(budget, held)));
      } else {
        out.print(table(budget, held));
        spentBy(client).ifPresent(usage -> out.print("spent by:\n" + usage));
      }
      out.flush();
      return 0;
    }
  }

  private static JsonNode read(KubernetesClient client, String path) throws IOException {
    String answer = client.raw(path, "GET", null);
    return JsonMappers.JSON.readTree(answer == null ? "{}" : answer);
  }

  /**
   * The Workloads that it holds, if those of all namespaces may not be listed those of the
   * context's; who may not list these either is told so, and sees none.
   */
  private List<Held> held(KubernetesClient client) throws IOException {
    try {
      return held(client, "");
    } catch (KubernetesClientException e) {
      if (e.getCode() != FORBIDDEN) {
        throw e;
      }
    }
    String context = Optional.ofNullable(client.getNamespace()).orElse("default");
    try {
      List<Held> held = held(client, "namespaces/" + encoded(context) + "/");
      only = context;
      return held;
    } catch (KubernetesClientException e) {
      if (e.getCode() != FORBIDDEN) {
        throw e;
      }
      spec.commandLine()
          .getErr()
          .println("sluice: you may not list Workloads: who is held isn't shown");
      return List.of();
    }
  }

  private List<Held> held(KubernetesClient client, String in) throws IOException {
    try {
      return listed(client, in);
    } catch (KubernetesClientException e) {
      if (e.getCode() != EXPIRED) {
        throw e;
      }
      return listed(client, in); // the API server doesn't remember a list for long
    }
  }

  private List<Held> listed(KubernetesClient client, String in) throws IOException {
    List<Held> held = new ArrayList<>();
    String next = "";
    do {
      JsonNode page =
          read(
              client,
              "/apis/%s/%s/%sworkloads?limit=%d%s"
                  .formatted(
                      ApiVersions.GROUP,
                      ApiVersions.V1BETA2,
                      in,
                      PAGE,
                      next.isEmpty() ? "" : "&continue=" + encoded(next)));
      for (JsonNode workload : page.path("items")) {
        held(workload).ifPresent(held::add);
      }
      next = page.at("/metadata/continue").asText();
    } while (!next.isEmpty());
    return held;
  }

  private Optional<Held> held(JsonNode workload) {
    for (JsonNode condition : JsonFields.list(workload.path("status"), "conditions")) {
      String message = JsonFields.text(condition, "message");
      if (JsonFields.text(condition, "type").equals("QuotaReserved")
          && JsonFields.text(condition, "status").equals("False")
          && message.startsWith("BudgetExhausted: Budget " + name + " ")) {
        return Optional.of(
            new Held(
                JsonFields.text(workload, "metadata", "namespace")
                    + "/"
                    + JsonFields.text(workload, "metadata", "name"),
                message));
      }
    }
    return Optional.empty();
  }

  private static Optional<String> fault(JsonNode budget) {
    return JsonFields.list(budget.path("status"), "conditions").stream()
        .filter(condition -> JsonFields.text(condition, "type").equals("Active"))
        .filter(condition -> JsonFields.text(condition, "status").equals("False"))
        .map(condition -> JsonFields.text(condition, "message"))
        .findFirst();
  }

  private String table(JsonNode budget, List<Held> held) {
    StringBuilder text = new StringBuilder();
    JsonNode status = budget.path("status");
    Optional<String> fault = fault(budget);
    fault.ifPresent(
        message -> text.append("Budget %s counts nothing: %s%n".formatted(name, message)));
    String start = JsonFields.text(status, "period", "start");
    String end = JsonFields.text(status, "period", "end");
    if (!start.isEmpty()) {
      String exhaustion = JsonFields.text(status, "expectedExhaustion");
      text.append(
          "Budget %s, %s%s%n"
              .formatted(
                  name,
                  end.isEmpty() ? "since " + start : start + " to " + end,
                  exhaustion.isEmpty() ? "" : ", spent " + exhaustion + " at this rate"));
    } else if (fault.isEmpty()) {
      text.append("Budget %s has no status yet%n".formatted(name));
    }
    List<JsonNode> limits = JsonFields.list(status, "limits");
    if (!limits.isEmpty()) {
      text.append(ROW.formatted("RESOURCE", "FLAVORS", "LIMIT", "SPENT", "RESERVED", "REMAINING"));
    }
    for (JsonNode limit : limits) {
      text.append(
          ROW.formatted(
              JsonFields.text(limit, "resource"),
              String.join(",", JsonFields.texts(limit, "flavors")),
              JsonFields.text(limit, "limit"),
              JsonFields.text(limit, "spent"),
              JsonFields.text(limit, "reserved"),
              JsonFields.text(limit, "remaining")));
    }
    if (!held.isEmpty()) {
      text.append(
          only.isEmpty() ? "held:%n".formatted() : "held in namespace %s:%n".formatted(only));
      held.forEach(each -> text.append("  %s: %s%n".formatted(each.workload(), each.message())));
    } else if (!only.isEmpty()) {
      text.append("nothing is held in namespace %s%n".formatted(only));
    }
    return text.toString();
  }

  /** The object of an item that {@code kubectl sluice budget --output json} prints. */
  private ObjectNode json(JsonNode budget, List<Held> held) {
    JsonNode status = budget.path("status");
    ObjectNode object = JsonMappers.JSON.createObjectNode();
    object
        .put("name", name)
        .put("action", JsonFields.text(budget, "spec", "action"))
        .put("periodStart", JsonFields.text(status, "period", "start"))
        .put("periodEnd", JsonFields.text(status, "period", "end"));
    String exhaustion = JsonFields.text(status, "expectedExhaustion");
    if (!exhaustion.isEmpty()) {
      object.put("expectedExhaustion", exhaustion);
    }
    fault(budget).ifPresent(message -> object.put("fault", message));
    ArrayNode limits = object.putArray("limits");
    JsonFields.list(status, "limits").forEach(limits::add);
    ArrayNode workloads = object.putArray("held");
    held.forEach(
        each ->
            workloads.addObject().put("workload", each.workload()).put("message", each.message()));
    return object;
  }

  /** Who spent it, as the ledger tells; empty if there is none, or the ledger may not be asked. */
  private Optional<String> spentBy(KubernetesClient client) throws IOException {
    try {
      String answer =
          client.raw(
              "/apis/%s/%s/%s?by=%s&budget=%s"
                  .formatted(
                      VisibilityApi.GROUP,
                      VisibilityApi.VERSIONS.getFirst(),
                      VisibilityApi.USAGE,
                      encoded("namespace,localqueue"),
                      encoded(name)),
              "GET",
              null);
      return answer == null || answer.isEmpty()
          ? Optional.empty()
          : Optional.of(
              new UsageReport(UsageDocument.parse(JsonMappers.JSON.readTree(answer)))
                  .in(UsageReport.Format.TABLE));
    } catch (KubernetesClientException e) {
      return Optional.empty();
    }
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }
}

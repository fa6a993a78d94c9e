package dev.sluice.app;

import dev.sluice.jobs.importer.ClusterImport;
import dev.sluice.jobs.importer.ImportQueues.ImportDecision;
import dev.sluice.jobs.importer.ImportRules;
import dev.sluice.jobs.importer.ImportRules.ImportRule;
import dev.sluice.kube.client.KubeconfigOption;
import dev.sluice.kube.client.RequestLimiter;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code sluice importer}: takes running pods and Jobs that have no Workload into queues. */
@Command(
    name = "importer",
    description = {
      "Takes running pods and Jobs that have no Workload into queues: each gets a Workload that"
          + " holds quota, and runs on.",
      "Run it when definitions and queues are there, before the operator is installed: its webhooks"
          + " refuse a queue name for what runs."
    },
    mixinStandardHelpOptions = true,
    subcommands = {ImporterCommand.Check.class, ImporterCommand.Import.class})
public final class ImporterCommand implements Runnable {

  @Spec private CommandSpec spec = CommandSpec.create();

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "check or import?");
  }

  /** What both subcommands are given. */
  static final class Options {

    @Mixin private KubeconfigOption kubeconfig = new KubeconfigOption();

    @Option(
        names = {"-n", "--namespace"},
        split = ",",
        required = true,
        paramLabel = "NS",
        description = "Namespaces whose pods and Jobs are looked at.")
    private List<String> namespaces = new ArrayList<>();

    @Option(
        names = "--queuelabel",
        paramLabel = "KEY",
        description = "The label whose values --queuemapping maps to LocalQueues.")
    private String queueLabel = "";

    @Option(
        names = "--queuemapping",
        split = ",",
        paramLabel = "VALUE=QUEUE",
        description = "LocalQueues for values of the label.")
    private Map<String, String> queueMapping = new LinkedHashMap<>();

    @Option(
        names = "--queuemapping-file",
        paramLabel = "FILE",
        description =
            "YAML: a list of match (labels, priorityClassName) with toLocalQueue or skip: true, or"
                + " a map from values of the label to LocalQueues.")
    private @Nullable Path queueMappingFile;

    @Option(
        names = "--add-labels",
        split = ",",
        paramLabel = "KEY=VALUE",
        description = "Labels that objects and Workloads get.")
    private Map<String, String> addLabels = new LinkedHashMap<>();

    @Option(
        names = "--exclude-resource-prefixes",
        split = ",",
        paramLabel = "PREFIX",
        description = "Resources that take no quota, as in the operator's configuration.")
    private List<String> excludedPrefixes = new ArrayList<>();

    @Option(names = "--qps", defaultValue = "50", description = "Requests in a second (50).")
    private double qps = 50;

    @Option(names = "--burst", defaultValue = "50", description = "Requests at once (50).")
    private int burst = 50;

    @Option(
        names = {"-c", "--concurrent-workers"},
        defaultValue = "8",
        description = "Objects at a time (8).")
    private int workers = 8;

    @Option(
        names = {"-v", "--verbose"},
        arity = "0..1",
        fallbackValue = "1",
        defaultValue = "0",
        description = "Also tell what is taken, and what is left alone.")
    private int verbosity;

    private ImportRules rules(CommandSpec spec) throws IOException {
      List<ImportRule> rules = new ArrayList<>();
      if (!queueMapping.isEmpty()) {
        if (queueLabel.isEmpty()) {
          throw new ParameterException(spec.commandLine(), "--queuemapping needs --queuelabel");
        }
        rules.addAll(ImportRules.ofLabel(queueLabel, queueMapping).rules());
      }
      if (queueMappingFile != null) {
        try {
          rules.addAll(ImportRules.parse(Files.readString(queueMappingFile), queueLabel).rules());
        } catch (IllegalArgumentException e) {
          throw new ParameterException(
              spec.commandLine(), queueMappingFile + " " + e.getMessage(), e);
        }
      }
      return new ImportRules(rules);
    }

    /** Returns the exit code. */
    private int run(CommandSpec spec, boolean writes) {
      return kubeconfig.exitCode(spec, () -> imported(spec, writes));
    }

    private int imported(CommandSpec spec, boolean writes) throws IOException {
      PrintWriter out = spec.commandLine().getOut();
      PrintWriter err = spec.commandLine().getErr();
      try (KubernetesClient client =
          new KubernetesClientBuilder().withConfig(kubeconfig.config()).build()) {
        ClusterImport run =
            new ClusterImport(
                client,
                namespaces,
                rules(spec),
                new ClusterImport.Options(addLabels, excludedPrefixes, Math.max(1, workers)),
                new RequestLimiter(qps, burst, System::nanoTime),
                InstantSource.system());
        List<ClusterImport.Item> items = run.plan();
        int faults = print(items, out);
        run.overQuota(items).forEach(line -> out.println("over   " + line));
        out.println(summary(items, faults));
        if (faults > 0 || !writes) {
          return faults > 0 ? 1 : 0;
        }
        List<String> failed = run.carryOut(items);
        failed.forEach(line -> err.println("fault  " + line));
        out.printf("%d imported%n", count(items, ImportDecision.Take.class) - failed.size());
        return failed.isEmpty() ? 0 : 1;
      }
    }

    private int print(List<ClusterImport.Item> items, PrintWriter out) {
      int faults = 0;
      for (ClusterImport.Item item : items) {
        switch (item.decision()) {
          case ImportDecision.Fault fault -> {
            faults++;
            out.println("fault  " + item.name() + ": " + fault.reason());
          }
          case ImportDecision.Take take when verbosity > 0 ->
              out.println(
                  "take   " + item.name() + ": " + take.clusterQueue() + " " + take.amounts());
          case ImportDecision.Leave leave when verbosity > 0 ->
              out.println("leave  " + item.name() + ": " + leave.reason());
          default -> {}
        }
      }
      return faults;
    }

    private static String summary(List<ClusterImport.Item> items, int faults) {
      return "%d objects: %d to take, %d to leave alone, %d with faults"
          .formatted(
              items.size(),
              count(items, ImportDecision.Take.class),
              count(items, ImportDecision.Leave.class),
              faults);
    }

    private static long count(
        List<ClusterImport.Item> items, Class<? extends ImportDecision> decision) {
      return items.stream().filter(item -> decision.isInstance(item.decision())).count();
    }
  }

  /** Says what an import would do. */
  @Command(
      name = "check",
      description = "Says what would be taken, and the fault of each object that can't be.",
      mixinStandardHelpOptions = true,
      exitCodeListHeading = "%nExit codes:%n",
      exitCodeList = {
        "0:everything can be taken or left alone",
        "1:there are faults, or the API server refused",
        "2:the command line is wrong",
        "3:the API server can't be reached, or a file can't be read"
      })
  static final class Check implements Callable<Integer> {

    @Spec private CommandSpec spec = CommandSpec.create();

    @Mixin private Options options = new Options();

    @Override
    public Integer call() {
      return options.run(spec, false);
    }
  }

  /** Does it. */
  @Command(
      name = "import",
      description = {
        "Takes everything, if nothing has a fault. What was taken before is left alone, so it can be"
            + " repeated.",
        "With --dry-run, which is the default, it only checks."
      },
      mixinStandardHelpOptions = true,
      exitCodeListHeading = "%nExit codes:%n",
      exitCodeList = {
        "0:everything was taken (or can be, with --dry-run)",
        "1:there are faults, or the API server refused; each object with a fault is named",
        "2:the command line is wrong",
        "3:the API server can't be reached, or a file can't be read"
      })
  static final class Import implements Callable<Integer> {

    @Spec private CommandSpec spec = CommandSpec.create();

    @Mixin private Options options = new Options();

    @Option(
        names = "--dry-run",
        arity = "0..1",
        fallbackValue = "true",
        defaultValue = "true",
        description = "Write nothing (true).")
    private boolean dryRun = true;

    @Override
    public Integer call() {
      return options.run(spec, !dryRun);
    }
  }
}

package dev.sluice.app;

import dev.sluice.api.config.Configuration;
import dev.sluice.api.config.ConfigurationException;
import dev.sluice.api.config.ConfigurationLoader;
import dev.sluice.app.Main.PreflightCommand;
import dev.sluice.app.module.OptionsMapper;
import dev.sluice.app.whatif.WhatIfCommand;
import dev.sluice.install.Preflight;
import dev.sluice.journal.JournalCommand;
import dev.sluice.journal.ReplayCommand;
import dev.sluice.kube.client.KubeconfigOption;
import dev.sluice.metrics.BuildInfo;
import dev.sluice.visibility.explain.BudgetCommand;
import dev.sluice.visibility.explain.ExplainCommand;
import dev.sluice.visibility.explain.SimulateCommand;
import dev.sluice.visibility.explain.UsageCommand;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * The command {@code sluice} as the image ships it: the operator, and what explains its decisions.
 * The laboratory adds its own subcommands.
 */
@Command(
    name = "sluice",
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    description = "A job queue for Kubernetes: decides when a job may start, and where.",
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:it worked (for demo and bench: every expectation held)",
      "1:it did not work; the message says why",
      "2:the command line could not be understood",
      "3:something that is needed is missing (a JDK, binaries, a cluster)"
    },
    subcommands = {
      OperatorCommand.class,
      PreflightCommand.class,
      UninstallCommand.class,
      ImporterCommand.class,
      ExplainCommand.class,
      SimulateCommand.class,
      UsageCommand.class,
      BudgetCommand.class,
      JournalCommand.class,
      ReplayCommand.class,
      WhatIfCommand.class,
      AutoComplete.GenerateCompletion.class,
      CommandLine.HelpCommand.class
    })
public final class Main implements Runnable {

  /** The version of the jar's manifest. */
  static final class Version implements CommandLine.IVersionProvider {
    @Override
    public String[] getVersion() {
      return new String[] {"sluice " + BuildInfo.ofThisProcess().version()};
    }
  }

  private static final String EXPLAIN = "explain";
  private static final String OPERATOR = "operator";

  @Spec
  @SuppressWarnings("NullAway.Init") // set by picocli before run
  private CommandSpec spec;

  /** Runs a command and exits with its code. */
  public static void main(String[] args) {
    System.exit(alone(args).orElseGet(Main::commandLine).execute(args));
  }

  /**
   * The command line for a call of {@code explain}, {@code operator} or {@code --version} alone;
   * empty for other calls. It holds no other subcommand, because to describe each takes time, and
   * somebody waits.
   */
  public static Optional<CommandLine> alone(String[] args) {
    if (args.length == 1 && args[0].equals("--version")) {
      return Optional.of(
          settled(
              new CommandLine(
                  CommandSpec.create()
                      .name("sluice")
                      .mixinStandardHelpOptions(true)
                      .versionProvider(new Version()))));
    }
    return switch (args.length == 0 ? "" : args[0]) {
      case EXPLAIN -> Optional.of(alone(new ExplainCommand()));
      case OPERATOR -> Optional.of(alone(new OperatorCommand()));
      default -> Optional.empty();
    };
  }

  private static CommandLine alone(Object command) {
    return settled(new CommandLine(CommandSpec.create().name("sluice")).addSubcommand(command));
  }

  private static CommandLine settled(CommandLine line) {
    return line.setCaseInsensitiveEnumValuesAllowed(true)
        .setParameterExceptionHandler((wrong, args) -> misused(wrong));
  }

  /**
   * Tells what is wrong, and no more: who sees the usage of a long command doesn't see the message
   * above it. A command that is nothing without a subcommand lists them.
   */
  private static int misused(ParameterException wrong) {
    CommandLine line = wrong.getCommandLine();
    PrintWriter errors = line.getErr();
    errors.println("sluice: " + wrong.getMessage());
    boolean incomplete =
        wrong.getClass().equals(ParameterException.class)
            && wrong.getArgSpec() == null
            && line.getParseResult().matchedArgs().isEmpty();
    if (incomplete && !line.getSubcommands().isEmpty()) {
      line.usage(errors);
    } else if (!(wrong.getCause() instanceof ConfigurationException)) {
      if (wrong instanceof UnmatchedArgumentException unmatched) {
        near(unmatched).ifPresent(it -> errors.println("did you mean " + it + "?"));
      }
      errors.println("see " + line.getCommandSpec().qualifiedName() + " --help");
    }
    errors.flush();
    return line.getCommandSpec().exitCodeOnInvalidInput();
  }

  /** The most similar option or command, if it begins as what was written does. */
  private static Optional<String> near(UnmatchedArgumentException unmatched) {
    String written = unmatched.getUnmatched().getFirst();
    int beginning = Math.min(written.length(), written.startsWith("--") ? 4 : 2);
    return unmatched.getSuggestions().stream()
        .filter(
            it -> it.substring(it.lastIndexOf(' ') + 1).startsWith(written.substring(0, beginning)))
        .findFirst();
  }

  /** The command line, ready to be executed. */
  public static CommandLine commandLine() {
    return settled(new CommandLine(new Main()));
  }

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "which command?");
  }

  /** {@code sluice preflight}: what a switch to Sluice needs, without touching the cluster. */
  @Command(
      name = "preflight",
      description = {
        "Says what has to be done before Sluice takes the place of another operator of the API in a"
            + " cluster, and what will differ.",
        "It reads only: no request but get and list is sent."
      },
      mixinStandardHelpOptions = true,
      exitCodeListHeading = "%nExit codes:%n",
      exitCodeList = {
        "0:nothing has to be done before",
        "1:something has to be done before: the rows \"todo\"; or the API server refused",
        "2:the command line or the configuration is wrong",
        "3:the API server can't be reached, or a file can't be read"
      })
  public static final class PreflightCommand implements Callable<Integer> {

    @Spec private CommandSpec spec = CommandSpec.create();

    @Mixin private KubeconfigOption kubeconfig = new KubeconfigOption();

    @Mixin private ConfigurationOption config = new ConfigurationOption();

    @Override
    public Integer call() {
      return kubeconfig.exitCode(spec, this::look);
    }

    private int look() throws IOException {
      try {
        Configuration configuration =
            ConfigurationLoader.load(config.file(), Optional.empty(), OperatorRunner::ownNamespace);
        try (KubernetesClient client =
            new KubernetesClientBuilder().withConfig(kubeconfig.config()).build()) {
          return print(
              new Preflight(
                      client,
                      configuration,
                      new OptionsMapper(configuration).admittedRequests(),
                      InstantSource.system())
                  .report());
        }
      } catch (ConfigurationException e) {
        throw new ParameterException(spec.commandLine(), e.getMessage(), e);
      }
    }

    private int print(List<Preflight.Row> rows) {
      PrintWriter out = spec.commandLine().getOut();
      for (Preflight.Row row : rows) {
        out.println(
            "%-4s  %-19s  %s"
                .formatted(
                    row.severity().name().toLowerCase(Locale.ROOT), row.subject(), row.text()));
      }
      long todo = rows.stream().filter(row -> row.severity() == Preflight.Severity.TODO).count();
      out.println(
          todo == 0
              ? "nothing has to be done before the switch"
              : todo + " to be done before or during the switch, see docs/switching.md");
      return todo == 0 ? 0 : 1;
    }
  }

  /** The option {@code --config} of commands that need the operator's configuration. */
  static final class ConfigurationOption {

    @Option(
        names = "--config",
        paramLabel = "FILE",
        description = "The operator's configuration file.")
    private @Nullable Path config;

    /** The file that was given; an empty text gives none. */
    Optional<Path> file() {
      return Optional.ofNullable(config).filter(path -> !path.toString().isEmpty());
    }
  }
}

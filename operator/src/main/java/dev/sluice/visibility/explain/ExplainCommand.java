package dev.sluice.visibility.explain;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.kube.certificates.TlsContexts;
import dev.sluice.kube.certificates.TlsContexts.ClientCertificate;
import dev.sluice.kube.client.ApiErrorText;
import dev.sluice.kube.client.ApiReader;
import dev.sluice.kube.client.ClientConfigs;
import dev.sluice.kube.client.ClientConfigs.ClusterAccess;
import dev.sluice.kube.client.DirectApiReader;
import dev.sluice.kube.client.KubeconfigOption;
import dev.sluice.kube.client.PlainKubeconfig;
import dev.sluice.visibility.explain.ExplainCommand.ExplainJobCommand;
import dev.sluice.visibility.explain.ExplainCommand.ExplainTopologyCommand;
import dev.sluice.visibility.explain.ExplainCommand.ExplainWorkloadCommand;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command {@code sluice explain}, which only groups its subcommands. */
@Command(
    name = "explain",
    description = "Says why something is as it is.",
    mixinStandardHelpOptions = true,
    subcommands = {
      ExplainWorkloadCommand.class,
      ExplainJobCommand.class,
      ExplainTopologyCommand.class
    })
public final class ExplainCommand implements Runnable {

  @Spec private CommandSpec spec = CommandSpec.create();

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "Missing command: workload, job or topology");
  }

  /** The command {@code sluice explain topology FLAVOR}. */
  @Command(
      name = "topology",
      aliases = {"topologies", "topo"},
      description = {
        "Shows the nodes of a ResourceFlavor with a topology as a tree: what each domain has, what"
            + " is free, which Workloads hold it, and how much of what is free is in one domain.",
        "Asks the operator, which knows the moment's numbers; you need the permission to get the"
            + " path /explain/v1 there."
      },
      mixinStandardHelpOptions = true,
      exitCodeListHeading = "%nExit codes:%n",
      exitCodeList = {
        "0:it was shown",
        "1:the operator has no such flavor with a topology, or didn't answer",
        "2:the command line is wrong",
        "3:a file can't be read"
      })
  public static final class ExplainTopologyCommand implements Callable<Integer> {

    @Spec private CommandSpec spec = CommandSpec.create();

    @Parameters(index = "0", paramLabel = "FLAVOR", description = "The ResourceFlavor's name.")
    private String flavor = "";

    @Mixin private KubeconfigOption kubeconfig = new KubeconfigOption();

    @Mixin private OperatorOptions operator = new OperatorOptions();

    @Override
    public Integer call() {
      if (!operator.isPresent()) {
        throw new ParameterException(spec.commandLine(), "Missing required option: --operator=URL");
      }
      return kubeconfig.exitCode(spec, this::ask);
    }

    private int ask() throws IOException {
      PrintWriter out = spec.commandLine().getOut();
      PrintWriter err = spec.commandLine().getErr();
      Optional<LiveExplanation> live = operator.client(kubeconfig.config());
      LiveExplanation.Lines lines = live.orElseThrow().topology(flavor);
      lines.text().forEach(lines.answered() ? out::println : err::println);
      out.flush();
      return lines.answered() ? 0 : 1;
    }
  }

  /** The command {@code sluice explain workload NAME -n NS}. */
  @Command(
      name = "workload",
      aliases = {"workloads", "wl", "kwl", "kueueworkload", "kueueworkloads"},
      description = {
        "Says where a Workload stands and, while it waits, why: its position, the flavors that were"
            + " tried, what each lacked, and who holds it.",
        "Reads the API server with your own permissions, and says what you may not read; with"
            + " --operator it asks the operator, too, which knows the moment's numbers."
      },
      mixinStandardHelpOptions = true,
      exitCodeListHeading = "%nExit codes:%n",
      exitCodeList = {
        "0:it was explained, as far as you may read",
        "1:there is no such Workload, or you may not read it",
        "2:the command line is wrong",
        "3:the API server can't be reached, or a file can't be read"
      })
  public static sealed class ExplainWorkloadCommand implements Callable<Integer>
      permits ExplainJobCommand {

    /** A person waits for the answer. */
    private static final int RETRIES = 2;

    @Spec private CommandSpec spec = CommandSpec.create();

    @Parameters(index = "0", paramLabel = "NAME", description = "Its name.")
    private String name = "";

    @Option(
        names = {"-n", "--namespace"},
        paramLabel = "NS",
        description = "Its namespace; that of the kubeconfig's context unless given.")
    private @Nullable String namespace;

    @Mixin private KubeconfigOption kubeconfig = new KubeconfigOption();

    @Mixin private OperatorOptions operator = new OperatorOptions();

    @Override
    public Integer call() {
      return kubeconfig.exitCode(spec, this::ask);
    }

    private int ask() throws IOException {
      PrintWriter out = spec.commandLine().getOut();
      PrintWriter err = spec.commandLine().getErr();
      Optional<ClusterAccess> plain = PlainKubeconfig.read(kubeconfig.file(), System.getenv());
      Optional<Config> config = plain.isEmpty() ? Optional.of(config()) : Optional.empty();
      String in =
          Optional.ofNullable(namespace)
              .or(() -> plain.flatMap(ClusterAccess::namespace))
              .or(() -> config.flatMap(found -> Optional.ofNullable(found.getNamespace())))
              .orElse("default");
      Optional<Explained> explained = explain(plain, config, in);
      if (explained.isEmpty()) {
        err.println(missing(in, name));
        return 1;
      }
      explained.get().lines().forEach(out::println);
      if (operator.isPresent()) {
        operator
            .client(config.isPresent() ? config.get() : config())
            .ifPresent(live -> live.lines(in, explained.get().workload()).forEach(out::println));
      }
      out.flush();
      return 0;
    }

    /** A Workload's name, and what is said of it. */
    private record Explained(String workload, List<String> lines) {}

    private Optional<Explained> explain(
        Optional<ClusterAccess> plain, Optional<Config> config, String in) throws IOException {
      try (ApiReader api = reader(plain, config)) {
        return workload(api, in, name)
            .flatMap(
                workload ->
                    new ClusterExplanation(api, InstantSource.system())
                        .lines(in, workload)
                        .map(lines -> new Explained(workload, lines)));
      }
    }

    /** The name of the Workload to be explained, by the name that was given. */
    Optional<String> workload(ApiReader api, String in, String given) {
      return Optional.of(given);
    }

    /** The line for a name without a Workload. */
    String missing(String in, String given) {
      return "Workload %s/%s does not exist".formatted(in, given);
    }

    private ApiReader reader(Optional<ClusterAccess> plain, Optional<Config> config)
        throws IOException {
      if (plain.isPresent()) {
        try {
          return new DirectApiReader(plain.get(), this::libraryReader);
        } catch (GeneralSecurityException unusable) {
          // The client library knows more forms of keys, or says what is wrong with this one.
          return libraryReader();
        }
      }
      return reader(config.isPresent() ? config.get() : config());
    }

    private ApiReader libraryReader() {
      try {
        return reader(config());
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private static ApiReader reader(Config config) {
      return new ClientApiReader(new KubernetesClientBuilder().withConfig(config).build());
    }

    private Config config() throws IOException {
      Config config = kubeconfig.config();
      config.setRequestRetryBackoffLimit(RETRIES);
      return config;
    }
  }

  /** The command {@code sluice explain job NAME -n NS}. */
  @Command(
      name = "job",
      aliases = {"jobs", "jobs.batch"},
      description = {
        "The same, by the name of a job: where its Workload stands, and why it waits.",
        "NAME is that of a Job, or KIND/NAME for any other kind that is queued, such as"
            + " rayjob/train or pod/shell."
      },
      mixinStandardHelpOptions = true)
  public static final class ExplainJobCommand extends ExplainWorkloadCommand {

    @Override
    Optional<String> workload(ApiReader api, String in, String given) {
      QueueObjectReader reader = new QueueObjectReader(api);
      int slash = given.indexOf('/');
      if (slash >= 0) {
        String kind = given.substring(0, slash).toLowerCase(Locale.ROOT).replaceFirst("\\..*", "");
        String job = given.substring(slash + 1);
        return kind.equals("job")
            ? reader.workloadOfJob(in, job)
            : reader.workloadOwnedBy(in, kind.replaceFirst("s$", ""), job);
      }
      return reader.workloadOfJob(in, given).or(() -> reader.workloadOwnedBy(in, "", given));
    }

    @Override
    String missing(String in, String given) {
      return "%s %s/%s does not exist, or has no Workload"
          .formatted(
              given.contains("/") ? given.substring(0, given.indexOf('/')) : "job",
              in,
              given.substring(given.indexOf('/') + 1));
    }
  }

  /** Options that name a running operator, and who asks it. */
  private static final class OperatorOptions {

    @Option(
        names = "--operator",
        paramLabel = "URL",
        description =
            "Where the operator answers, such as https://127.0.0.1:8082 behind a port-forward.")
    private @Nullable URI operator;

    @Option(
        names = "--operator-ca",
        paramLabel = "FILE",
        description = "The CA (PEM) that the operator's certificate is checked by.")
    private @Nullable Path operatorCa;

    @Option(
        names = "--operator-token",
        paramLabel = "FILE",
        description =
            "A token for the operator, such as kubectl create token writes; the token or the"
                + " certificate of the kubeconfig unless given.")
    private @Nullable Path operatorToken;

    /** Whether an operator is named. */
    boolean isPresent() {
      return operator != null;
    }

    /**
     * The operator that is named; empty if none is.
     *
     * @param config who asks, unless a token is given
     * @throws IOException if a file can't be read
     */
    Optional<LiveExplanation> client(Config config) throws IOException {
      return operator == null
          ? Optional.empty()
          : Optional.of(
              new LiveExplanation(
                  operator,
                  Optional.ofNullable(operatorCa),
                  token(config),
                  ClientConfigs.certificate(config)));
    }

    private Optional<String> token(Config config) throws IOException {
      if (operatorToken != null) {
        return Optional.of(Files.readString(operatorToken).strip());
      }
      return Optional.ofNullable(config.getAutoOAuthToken())
          .or(() -> Optional.ofNullable(config.getOauthToken()));
    }
  }

  /** Reads with the client library, which knows every way to log in. */
  static final class ClientApiReader implements ApiReader {

    private final KubernetesClient client;

    /** Takes the client over: it is closed with the reader. */
    public ClientApiReader(KubernetesClient client) {
      this.client = client;
    }

    @Override
    public String get(String path) {
      return Objects.requireNonNullElse(client.raw(path, "GET", null), "");
    }

    @Override
    public void close() {
      client.close();
    }
  }

  /** Queries a running operator. A failed query becomes one line of text. */
  static final class LiveExplanation {

    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final int OK = 200;

    private static final String WHERE_THE_CA_IS =
        "it is ca.crt of Secret kueue-webhook-server-cert in the operator's namespace, unless the"
            + " installation names certificates of its own";

    private final URI operator;
    private final Optional<Path> authority;
    private final Optional<String> token;
    private final Optional<ClientCertificate> certificate;

    /**
     * Creates a client of an operator.
     *
     * @param authority file with the certificate authority of the operator; empty: the default of
     *     Java
     * @param token bearer token of the user
     * @param certificate certificate of the user, which is shown if there is no token
     */
    LiveExplanation(
        URI operator,
        Optional<Path> authority,
        Optional<String> token,
        Optional<ClientCertificate> certificate) {
      this.certificate = certificate;
      this.operator = operator;
      this.authority = authority;
      this.token = token;
    }

    /**
     * What the operator says, or why it says nothing.
     *
     * @param answered whether it answered what was asked
     */
    record Lines(boolean answered, List<String> text) {

      private static Lines none(String why) {
        return new Lines(false, List.of(why));
      }
    }

    /** Why a Workload is pending. */
    List<String> lines(String namespace, String name) {
      return ask(
              "/explain/v1/namespaces/" + namespace + "/workloads/" + name,
              LiveExplanation::explanationLines)
          .text();
    }

    /** What the nodes of a flavor have, and who uses them. */
    Lines topology(String flavor) {
      return ask(
          "/explain/v1/topologies/" + flavor,
          answer -> {
            List<String> lines = new ArrayList<>();
            answer.path("text").forEach(line -> lines.add(line.asText()));
            return lines;
          });
    }

    private Lines ask(String path, Function<JsonNode, List<String>> lines) {
      URI url = operator.resolve(path);
      HttpRequest.Builder request = HttpRequest.newBuilder(url).timeout(TIMEOUT);
      if (token.isEmpty() && certificate.isEmpty()) {
        return Lines.none(
            "(the operator was not asked: it knows people by token or certificate, and the"
                + " kubeconfig has neither; give a token with --operator-token)");
      }
      if (!confidential(url)) {
        return Lines.none(
            "(the operator at %s was not asked: your %s is only sent over https)"
                .formatted(operator, token.isPresent() ? "token" : "certificate"));
      }
      token.ifPresent(bearer -> request.header("Authorization", "Bearer " + bearer));
      try (HttpClient client = client()) {
        HttpResponse<String> response =
            client.send(request.build(), HttpResponse.BodyHandlers.ofString());
        if (response.statusCode() != OK) {
          return Lines.none(
              "(the operator at %s answered %d: %s)"
                  .formatted(operator, response.statusCode(), response.body().strip()));
        }
        return new Lines(true, lines.apply(JsonMappers.JSON.readTree(response.body())));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return new Lines(false, List.of());
      } catch (IOException | GeneralSecurityException e) {
        return Lines.none(
            "(the operator at %s could not be asked: %s)".formatted(operator, message(e)));
      }
    }

    /** What went wrong. Of a certificate that isn't trusted it says where its authority is. */
    private String message(Exception failure) {
      if (ApiErrorText.untrusted(failure)) {
        return authority
            .map(
                file ->
                    "its certificate is not signed by the CA of --operator-ca, %s; %s"
                        .formatted(file, WHERE_THE_CA_IS))
            .orElse(
                "its certificate is not signed by an authority that is trusted here; name its CA"
                    + " with --operator-ca FILE; "
                    + WHERE_THE_CA_IS);
      }
      return failure instanceof IOException io
          ? ApiErrorText.of(io)
          : String.valueOf(failure.getMessage());
    }

    private static boolean confidential(URI url) {
      return "https".equals(url.getScheme());
    }

    private static List<String> explanationLines(JsonNode answer) {
      List<String> lines = new ArrayList<>();
      if (!answer.path("pending").asBoolean()) {
        lines.add("operator: it is not pending");
      }
      answer.path("text").forEach(line -> lines.add("operator: " + line.asText()));
      return lines;
    }

    private HttpClient client() throws IOException, GeneralSecurityException {
      Optional<String> trusted =
          authority.isPresent() ? Optional.of(Files.readString(authority.get())) : Optional.empty();
      return HttpClient.newBuilder()
          .connectTimeout(TIMEOUT)
          .sslContext(
              TlsContexts.client(trusted, token.isPresent() ? Optional.empty() : certificate))
          .build();
    }
  }
}

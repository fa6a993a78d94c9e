package dev.sluice.lab.controlplane;

import dev.sluice.kube.certificates.CertificateAuthority;
import dev.sluice.kube.certificates.CertificateWithKey;
import dev.sluice.kube.certificates.Pem;
import dev.sluice.lab.controlplane.ControlPlane.Endpoints;
import dev.sluice.lab.controlplane.ControlPlanes.ControlPlaneStatus.Condition;
import dev.sluice.lab.controlplane.StateFile.Layout;
import dev.sluice.lab.controlplane.StateFile.ProcessRecord;
import dev.sluice.lab.controlplane.StateFile.State;
import dev.sluice.lab.controlplane.binaries.Binaries;
import dev.sluice.lab.controlplane.binaries.DefaultBinarySources.DirectoryTree;
import dev.sluice.lab.controlplane.binaries.Program;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.random.RandomGenerator;

/**
 * The control planes of this user on this machine, each in a directory below one root. Remains of
 * killed processes are detected and removed at the next start.
 */
public final class ControlPlanes {

  private static final Duration START_LIMIT = Duration.ofMinutes(10);
  private static final int ATTEMPTS = 3;
  private static final String PORT_TAKEN = "address already in use";

  private final Path root;
  private final InstantSource clock;
  private final RandomGenerator random;

  /** Uses the directory {@code root}, which is created on demand. */
  public ControlPlanes(Path root, InstantSource clock) {
    this.root = root;
    this.clock = clock;
    this.random = new SecureRandom();
  }

  /**
   * The default directory: {@code $XDG_STATE_HOME/sluice/control-planes}, or {@code
   * ~/.local/state/sluice/control-planes}.
   */
  public static Path defaultRoot(Map<String, String> environment) {
    String state = environment.getOrDefault("XDG_STATE_HOME", "");
    Path home =
        state.isEmpty()
            ? Path.of(System.getProperty("user.home"), ".local", "state")
            : Path.of(state);
    return home.resolve("sluice").resolve("control-planes");
  }

  /**
   * Starts a control plane and returns when it is usable: API server ready, controllers working,
   * all nodes ready. If the start fails, all started processes are stopped.
   *
   * @throws ControlPlaneException when one of this name runs, or the start fails; the message
   *     contains the end of the relevant log
   */
  public ControlPlane start(ControlPlaneSpec spec, Binaries binaries) {
    removeLeftOvers(spec.name());
    for (int attempt = 1; ; attempt++) {
      try {
        return startOnce(spec, binaries);
      } catch (ControlPlaneException e) {
        boolean portTaken = String.valueOf(e.getMessage()).contains(PORT_TAKEN);
        if (!portTaken || attempt == ATTEMPTS) {
          throw e;
        }
      }
    }
  }

  private ControlPlane startOnce(ControlPlaneSpec spec, Binaries binaries) {
    Endpoints endpoints = Endpoints.free(random);
    State state =
        new State(
            spec.name(),
            spec.lifetime(),
            clock.instant().toEpochMilli(),
            endpoints.server(),
            ProcessRecord.ofThisProcess(),
            List.of());
    Layout layout = claim(state);
    ControlPlane controlPlane =
        new ControlPlane(
            spec,
            layout,
            endpoints,
            new ProcessArguments(binaries, spec, layout, endpoints),
            new Poller(clock, START_LIMIT),
            new StateFile(layout.state(), state));
    Thread stopAtExit = stopAtExit(controlPlane);
    boolean started = false;
    try {
      writeFiles(layout, endpoints);
      controlPlane.start();
      if (spec.lifetime() == Lifetime.UNTIL_STOPPED) {
        Runtime.getRuntime().removeShutdownHook(stopAtExit);
      }
      started = true;
      return controlPlane;
    } finally {
      if (!started) {
        controlPlane.stop();
      }
    }
  }

  private static Thread stopAtExit(ControlPlane controlPlane) {
    Thread thread = new Thread(controlPlane::stop, "stop-" + controlPlane.name());
    Runtime.getRuntime().addShutdownHook(thread);
    return thread;
  }

  private void writeFiles(Layout layout, Endpoints endpoints) {
    try (InputStream kwok = ControlPlanes.class.getResourceAsStream("kwok.yaml")) {
      if (kwok == null) {
        throw new IllegalStateException("kwok.yaml is not on the class path");
      }
      Files.createDirectories(layout.logs());
      Files.copy(kwok, layout.kwokConfiguration());
      new KeyFiles(layout, endpoints, clock.instant()).write();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Creates the directory with its state file atomically, so that only one process succeeds. */
  private Layout claim(State state) {
    Layout layout = layout(state.name());
    try {
      Files.createDirectories(root);
      Path part = Files.createTempDirectory(root, ".claim-");
      try {
        StateFile.write(new Layout(part).state(), state);
        Files.move(part, layout.directory(), StandardCopyOption.ATOMIC_MOVE);
      } finally {
        DirectoryTree.delete(part);
      }
    } catch (IOException e) {
      if (Files.exists(layout.directory())) {
        throw new ControlPlaneException(
            ("a control plane named \"%s\" exists; stop it with"
                    + " \"sluice control-plane down --name %s\", or choose another name")
                .formatted(state.name(), state.name()),
            e);
      }
      throw new UncheckedIOException(e);
    }
    return layout;
  }

  /** All control planes that have a directory, by name. */
  public List<ControlPlaneStatus> list() {
    List<ControlPlaneStatus> result = new ArrayList<>();
    for (State state : states()) {
      result.add(status(state));
    }
    return List.copyOf(result);
  }

  /** The control plane of this name, if it has a directory. */
  public Optional<ControlPlaneStatus> find(String name) {
    return list().stream().filter(status -> status.name().equals(name)).findFirst();
  }

  /**
   * Stops the processes of a control plane, started by any process, and removes its files.
   *
   * @return whether it existed
   */
  public boolean stop(String name) {
    Optional<State> state =
        states().stream().filter(candidate -> candidate.name().equals(name)).findFirst();
    state.ifPresent(this::stop);
    return state.isPresent();
  }

  private void stop(State state) {
    Layout layout = layout(state.name());
    ControlPlane.end(
        state.processes().stream().flatMap(process -> process.open(layout).stream()).toList());
    try {
      DirectoryTree.delete(layout.directory());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Removes remains of control planes whose owner was killed, and a stale one of the desired name.
   */
  private void removeLeftOvers(String wishedName) {
    for (State state : states()) {
      boolean orphaned = state.lifetime() == Lifetime.WITH_THIS_PROCESS && !state.owner().isAlive();
      boolean inTheWay = state.name().equals(wishedName) && condition(state) == Condition.STALE;
      if (orphaned || inTheWay) {
        stop(state);
      }
    }
  }

  private List<State> states() {
    if (!Files.isDirectory(root)) {
      return List.of();
    }
    List<State> states = new ArrayList<>();
    try (var directories = Files.newDirectoryStream(root)) {
      for (Path directory : directories) {
        if (!directory.getFileName().toString().startsWith(".")) {
          StateFile.read(new Layout(directory).state()).ifPresent(states::add);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    states.sort(Comparator.comparing(State::name));
    return states;
  }

  private ControlPlaneStatus status(State state) {
    Layout layout = layout(state.name());
    Map<Program, Long> processes = new EnumMap<>(Program.class);
    state.processes().stream()
        .filter(ProcessRecord::isAlive)
        .forEach(
            process ->
                process.program().ifPresent(program -> processes.put(program, process.pid())));
    return new ControlPlaneStatus(
        state.name(),
        state.lifetime(),
        condition(state),
        Instant.ofEpochMilli(state.createdAtMillis()),
        state.server(),
        layout.kubeconfig(),
        processes);
  }

  private static Condition condition(State state) {
    boolean whole = state.processes().size() == Program.values().length;
    if (whole && state.allProcessesAlive()) {
      return Condition.RUNNING;
    }
    if (!whole && state.owner().isAlive()) {
      return Condition.STARTING;
    }
    return state.anyProcessAlive() ? Condition.DEGRADED : Condition.STALE;
  }

  private Layout layout(String name) {
    return new Layout(root.resolve(name));
  }

  /**
   * Makes the keys, certificates and kubeconfigs of one control plane, readable by its owner only.
   */
  private static final class KeyFiles {

    private static final Duration VALIDITY = Duration.ofDays(3650);

    private final Layout layout;
    private final Endpoints endpoints;
    private final CertificateAuthority certificates;

    /** For a control plane whose certificates are good from {@code now} on, for ten years. */
    KeyFiles(Layout layout, Endpoints endpoints, Instant now) {
      this.layout = layout;
      this.endpoints = endpoints;
      this.certificates = new CertificateAuthority(InstantSource.fixed(now), new SecureRandom());
    }

    void write() throws IOException {
      Files.createDirectories(layout.keys());
      try {
        CertificateWithKey authority = certificates.authority("sluice-cluster-ca", VALIDITY);
        writeCredential("ca", authority);
        writeCredential(
            "apiserver",
            certificates.serving(
                authority,
                List.of(
                    "kubernetes",
                    "kubernetes.default",
                    "kubernetes.default.svc",
                    "localhost",
                    "127.0.0.1",
                    ProcessArguments.FIRST_SERVICE_ADDRESS),
                VALIDITY));
        writeServiceAccountKeys();
        writeFrontProxy();
        writeKubeconfigs(authority);
      } catch (GeneralSecurityException e) {
        throw new ControlPlaneException("can't make keys and certificates", e);
      }
    }

    private void writeServiceAccountKeys() throws IOException, GeneralSecurityException {
      KeyPair keys = certificates.ellipticKeys();
      secret(layout.key("sa.key"), Pem.key(keys.getPrivate()));
      secret(layout.key("sa.pub"), Pem.publicKey(keys.getPublic()));
    }

    /** With these the API server authenticates itself, and its users, to servers behind it. */
    private void writeFrontProxy() throws IOException, GeneralSecurityException {
      CertificateWithKey authority = certificates.authority("sluice-proxy-ca", VALIDITY);
      secret(layout.key("front-proxy-ca.crt"), authority.certificatePem());
      writeCredential(
          "front-proxy-client",
          certificates.client(
              authority, certificates.ellipticKeys(), "front-proxy-client", List.of(), VALIDITY));
    }

    private void writeKubeconfigs(CertificateWithKey authority)
        throws IOException, GeneralSecurityException {
      List<String> masters = List.of("system:masters");
      writeKubeconfig(
          layout.kubeconfig(),
          authority,
          certificates.rsaKeys(),
          ControlPlane.ADMINISTRATOR,
          masters);
      writeKubeconfig(Program.KWOK, authority, "sluice-kwok", masters);
      writeKubeconfig(
          Program.CONTROLLER_MANAGER, authority, "system:kube-controller-manager", List.of());
      writeKubeconfig(Program.SCHEDULER, authority, "system:kube-scheduler", List.of());
    }

    private void writeKubeconfig(
        Program program, CertificateWithKey authority, String user, List<String> groups)
        throws IOException, GeneralSecurityException {
      writeKubeconfig(
          layout.kubeconfig(program), authority, certificates.ellipticKeys(), user, groups);
    }

    private void writeKubeconfig(
        Path file, CertificateWithKey authority, KeyPair keys, String user, List<String> groups)
        throws IOException, GeneralSecurityException {
      CertificateWithKey client = certificates.client(authority, keys, user, groups, VALIDITY);
      secret(file, Kubeconfig.text(endpoints.server(), authority, user, client));
    }

    private void writeCredential(String stem, CertificateWithKey credential)
        throws IOException, GeneralSecurityException {
      secret(layout.key(stem + ".crt"), credential.certificatePem());
      secret(layout.key(stem + ".key"), credential.keyPem());
    }

    private static void secret(Path file, String content) throws IOException {
      Files.deleteIfExists(file);
      Files.createFile(
          file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
      Files.writeString(file, content);
    }

    /** The text of a kubeconfig that refers to no other file. */
    private static final class Kubeconfig {

      private Kubeconfig() {}

      static String text(
          URI server, CertificateWithKey authority, String user, CertificateWithKey client)
          throws GeneralSecurityException {
        return """
        apiVersion: v1
        kind: Config
        clusters:
        - name: sluice
          cluster:
            server: %s
            certificate-authority-data: %s
        users:
        - name: "%s"
          user:
            client-certificate-data: %s
            client-key-data: %s
        contexts:
        - name: sluice
          context:
            cluster: sluice
            user: "%s"
        current-context: sluice
        """
            .formatted(
                server,
                base64(authority.certificatePem()),
                user,
                base64(client.certificatePem()),
                base64(client.keyPem()),
                user);
      }

      private static String base64(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.US_ASCII));
      }
    }
  }

  /**
   * Status of a control plane of this user, started by any process.
   *
   * @param name its name
   * @param lifetime its lifetime
   * @param condition its condition
   * @param createdAt when its start began
   * @param server the address of its API server
   * @param kubeconfig a kubeconfig of an administrator
   * @param processes the running programs with their process ids
   */
  public record ControlPlaneStatus(
      String name,
      Lifetime lifetime,
      Condition condition,
      Instant createdAt,
      URI server,
      Path kubeconfig,
      Map<Program, Long> processes) {

    /** Condition of a control plane. */
    public enum Condition {
      /** It is being started. */
      STARTING,
      /** All its programs run. */
      RUNNING,
      /** Some of its programs have ended. */
      DEGRADED,
      /** None of its programs runs; only files are left. */
      STALE
    }
  }
}

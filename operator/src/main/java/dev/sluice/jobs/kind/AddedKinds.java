package dev.sluice.jobs.kind;

import dev.sluice.api.config.AddedJobKind;
import dev.sluice.api.config.Configuration;
import dev.sluice.api.config.DeclaredJobKind;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.jar.JarFile;
import java.util.stream.Stream;

/**
 * The kinds of jobs beside the built-in ones: what JobKinds of the cluster declare, and what jars
 * provide (docs/kinds-in-java.md).
 */
public final class AddedKinds {

  private AddedKinds() {}

  /**
   * A kind that a jar provides.
   *
   * @param integration the jar's code
   * @param kind what it named when it was loaded
   */
  public record ProvidedKind(JobIntegration integration, JobKind kind) implements AddedJobKind {

    @Override
    public String framework() {
      return kind.framework();
    }
  }

  /** Those of a configuration. */
  public static List<JobIntegration> of(Configuration configuration) {
    return configuration.integrations().added().stream().map(AddedKinds::integration).toList();
  }

  private static JobIntegration integration(AddedJobKind added) {
    return switch (added) {
      case DeclaredJobKind declared -> new DeclaredJob(declared);
      case ProvidedKind provided -> provided.integration();
      default -> throw new IllegalArgumentException("nothing queues " + added.framework());
    };
  }

  /**
   * Loads every {@link JobIntegration} that a jar of a directory names as its service. The code
   * runs in the operator with all of its rights.
   *
   * @param directory none is provided where it doesn't exist; files with other names are left alone
   * @param taken the kinds that are known without it
   * @throws IOException if the directory or a jar can't be read, or a service not be loaded, or its
   *     kind is known already
   */
  public static List<ProvidedKind> provided(Path directory, Collection<JobKind> taken)
      throws IOException {
    if (!Files.isDirectory(directory)) {
      return List.of();
    }
    List<URL> jars = new ArrayList<>();
    try (Stream<Path> files = Files.list(directory)) {
      for (Path jar : files.filter(it -> it.toString().endsWith(".jar")).sorted().toList()) {
        checkIsJar(jar);
        jars.add(jar.toUri().toURL());
      }
    }
    // It lives as long as the operator: a class is loaded when it is first used.
    @SuppressWarnings("resource")
    ClassLoader loader =
        new URLClassLoader(jars.toArray(URL[]::new), AddedKinds.class.getClassLoader());
    List<ProvidedKind> provided = new ArrayList<>();
    List<JobKind> known = new ArrayList<>(taken);
    try {
      for (JobIntegration integration : ServiceLoader.load(JobIntegration.class, loader)) {
        JobKind kind = Objects.requireNonNull(integration.kind(), "its kind is null");
        if (known.stream().anyMatch(it -> it.is(kind.apiVersion(), kind.kind()))) {
          throw new IOException(
              "%s of %s: jobs of kind %s of %s are queued without it"
                  .formatted(
                      integration.getClass().getName(), directory, kind.kind(), kind.apiVersion()));
        }
        known.add(kind);
        provided.add(new ProvidedKind(integration, kind));
      }
    } catch (RuntimeException | LinkageError | ServiceConfigurationError e) {
      // Code of others: nothing is known of its faults.
      throw new IOException("a kind of jobs of " + directory + " can't be loaded: " + e, e);
    }
    return List.copyOf(provided);
  }

  /** A class loader passes over a file that it can't open, and nobody would know of the kind. */
  private static void checkIsJar(Path file) throws IOException {
    try (JarFile opened = new JarFile(file.toFile())) {
      opened.size();
    } catch (IOException e) {
      throw new IOException(file + " can't be read as a jar: " + e.getMessage(), e);
    }
  }
}

package dev.sluice.app;

import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The option {@code --config} of commands that need the operator's configuration. */
final class ConfigurationOption {

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

package dev.sluice.lab.controlplane.binaries;

import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The default chain of sources. */
public final class DefaultBinarySources {

  /** The environment variable with a directory of programs. */
  public static final String DIRECTORY_VARIABLE = "SLUICE_CONTROL_PLANE_BINARIES";

  private DefaultBinarySources() {}

  /**
   * In order: the directory that the user names, the local cache, the official releases, a build
   * from Go modules.
   *
   * @param directory directory from the command line; if empty, the environment variable {@link
   *     #DIRECTORY_VARIABLE} is used
   */
  public static BinarySourceChain standard(
      Optional<Path> directory,
      Map<String, String> environment,
      InstantSource clock,
      Progress progress) {
    ModuleFiles modules = new ModuleFiles();
    Platform platform = Platform.current();
    BinaryCache cache =
        new BinaryCache(BinaryCache.defaultRoot(environment), modules, platform, progress);
    List<BinarySource> sources = new ArrayList<>();
    directory
        .or(() -> named(environment))
        .ifPresent(named -> sources.add(new DirectorySource(named)));
    sources.add(cache);
    sources.add(
        cache.filledBy(
            new ReleaseDownloader(
                modules, platform, ReleaseDownloader.Sites.official(), progress)));
    sources.add(
        cache.filledBy(
            new GoModuleBuilder(
                modules, GoModuleBuilder.searchPath(environment), clock, progress)));
    return new BinarySourceChain(sources, progress);
  }

  private static Optional<Path> named(Map<String, String> environment) {
    String directory = environment.getOrDefault(DIRECTORY_VARIABLE, "");
    return directory.isEmpty() ? Optional.empty() : Optional.of(Path.of(directory));
  }
}

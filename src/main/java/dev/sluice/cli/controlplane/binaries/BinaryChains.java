package dev.sluice.cli.controlplane.binaries;

import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The chain of sources as it is used outside tests. */
public final class BinaryChains {

  /** The environment variable that names a directory of programs. */
  public static final String DIRECTORY_VARIABLE = "SLUICE_CONTROL_PLANE_BINARIES";

  private BinaryChains() {}

  /**
   * The directory the user names, the local cache, the official releases, a build from Go modules.
   *
   * @param directory from the command line; when empty, the environment variable {@link
   *     #DIRECTORY_VARIABLE} is looked at
   */
  public static BinaryChain standard(
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
            new ReleaseMaker(modules, platform, ReleaseMaker.Sites.official(), progress)));
    sources.add(
        cache.filledBy(
            new GoModuleMaker(modules, GoModuleMaker.searchPath(environment), clock, progress)));
    return new BinaryChain(sources, progress);
  }

  private static Optional<Path> named(Map<String, String> environment) {
    String directory = environment.getOrDefault(DIRECTORY_VARIABLE, "");
    return directory.isEmpty() ? Optional.empty() : Optional.of(Path.of(directory));
  }
}

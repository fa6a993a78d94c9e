package dev.sluice.lab.controlplane.binaries;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;

/**
 * Downloads a bundle from its project's official release. Files without a published checksum, or
 * with a different one, are rejected.
 */
public final class ReleaseDownloader implements BundleBuilder {

  /**
   * Download sites.
   *
   * @param kubernetes root of the Kubernetes download site
   * @param downloads root of GitHub's downloads
   * @param api root of GitHub's API, which reports the digests of downloads
   */
  public record Sites(URI kubernetes, URI downloads, URI api) {

    /** The official sites. */
    public static Sites official() {
      return new Sites(
          URI.create("https://dl.k8s.io/"),
          URI.create("https://github.com/"),
          URI.create("https://api.github.com/"));
    }
  }

  private final ModuleFiles modules;
  private final Platform platform;
  private final Sites sites;
  private final Downloader downloader;

  /** Creates a downloader for a platform; only Linux has releases of all programs. */
  public ReleaseDownloader(ModuleFiles modules, Platform platform, Sites sites, Progress progress) {
    this.modules = modules;
    this.platform = platform;
    this.sites = sites;
    this.downloader = new Downloader(progress);
  }

  @Override
  public String name() {
    return "official release";
  }

  @Override
  public void make(Bundle bundle, Path emptyDirectory)
      throws SourceFailedException, InterruptedException {
    if (!platform.os().equals("linux")) {
      throw new SourceFailedException("is used on linux only, this is " + platform);
    }
    try {
      switch (bundle) {
        case KUBERNETES -> kubernetes(emptyDirectory);
        case ETCD -> etcd(emptyDirectory);
        case KWOK -> kwok(emptyDirectory);
      }
      for (Program program : bundle.programs()) {
        Files.setPosixFilePermissions(
            emptyDirectory.resolve(program.file()), PosixFilePermissions.fromString("rwxr-xr-x"));
      }
    } catch (IOException e) {
      throw new SourceFailedException("can't write the download: " + e, e);
    }
  }

  private void kubernetes(Path directory)
      throws SourceFailedException, InterruptedException, IOException {
    for (Program program : Bundle.KUBERNETES.programs()) {
      URI file =
          sites
              .kubernetes()
              .resolve(
                  "release/%s/bin/%s/%s/%s"
                      .formatted(
                          modules.version(Bundle.KUBERNETES),
                          platform.os(),
                          platform.arch(),
                          program.file()));
      Checksum checksum = Checksum.parse(downloader.text(URI.create(file + ".sha256")).strip());
      downloader.file(file, checksum, directory.resolve(program.file()));
    }
  }

  private void etcd(Path directory)
      throws SourceFailedException, InterruptedException, IOException {
    String version = modules.version(Bundle.ETCD);
    String stem = "etcd-%s-%s".formatted(version, platform);
    URI release =
        sites.downloads().resolve("etcd-io/etcd/releases/download/%s/".formatted(version));
    String archiveName = stem + ".tar.gz";
    Checksum checksum = Checksum.find(downloader.text(release.resolve("SHA256SUMS")), archiveName);
    Path archive = directory.resolve(archiveName);
    downloader.file(release.resolve(archiveName), checksum, archive);
    try (TarGz content = TarGz.open(archive)) {
      Files.copy(
          content.find(stem + "/etcd"),
          directory.resolve(Program.ETCD.file()),
          StandardCopyOption.REPLACE_EXISTING);
    }
    Files.delete(archive);
  }

  /** KWOK's releases contain no checksum file; GitHub's API reports the digests of its assets. */
  private void kwok(Path directory)
      throws SourceFailedException, InterruptedException, IOException {
    String version = modules.version(Bundle.KWOK);
    String asset = "kwok-" + platform;
    URI description =
        sites.api().resolve("repos/kubernetes-sigs/kwok/releases/tags/%s".formatted(version));
    Checksum checksum = Checksum.ofAsset(downloader.text(description), asset);
    URI file =
        sites
            .downloads()
            .resolve("kubernetes-sigs/kwok/releases/download/%s/%s".formatted(version, asset));
    downloader.file(file, checksum, directory.resolve(Program.KWOK.file()));
  }
}

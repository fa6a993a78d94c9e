package dev.sluice.api.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testing.SourceTrees;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The page docs/story.md names files that exist, and counts them as they are. */
class StoryPageTest {

  /** The number of files that a reader of the story may have to open. */
  private static final int AIM = 45;

  private static final int MOST_ROOMS = 8;

  private static final Pattern ROW =
      Pattern.compile("^\\| `([^`]+\\.java)` \\|", Pattern.MULTILINE);

  private static final Pattern COUNTS =
      Pattern.compile(
          "^(\\d+) files in (\\d+) rooms \\((\\d+) if .*\\): .* The aim is (\\d+) files\\.$",
          Pattern.MULTILINE);

  private final String page = read(Path.of("docs", "story.md"));

  private final List<String> files =
      ROW.matcher(page).results().map((MatchResult row) -> row.group(1)).toList();

  @Test
  void everyFileExistsAndIsListedOnce() {
    assertThat(files)
        .isNotEmpty()
        .doesNotHaveDuplicates()
        .allSatisfy(file -> assertThat(SourceTrees.mainFile(file)).isRegularFile());
  }

  @Test
  void theCountsAreThoseOfTheList() {
    Matcher counts = COUNTS.matcher(page);

    assertThat(counts.find()).as("a line of counts").isTrue();
    assertThat(Integer.parseInt(counts.group(1))).isEqualTo(files.size());
    assertThat(Integer.parseInt(counts.group(2))).isEqualTo(rooms().size());
    assertThat(Integer.parseInt(counts.group(3)))
        .isEqualTo(rooms().size() - 1 + coreParts().size());
    assertThat(Integer.parseInt(counts.group(4))).isEqualTo(AIM);
  }

  @Test
  void theStoryStaysSmall() {
    assertThat(files.size()).isLessThanOrEqualTo(AIM);
    assertThat(rooms()).hasSizeLessThanOrEqualTo(MOST_ROOMS);
  }

  @Test
  void theRoomsAreThoseOfTheArchitecture() {
    String architecture = read(Path.of("docs", "architecture.md"));

    Set<String> rows = rooms();
    assertThat(rows.remove("core")).isTrue();
    coreParts().forEach(part -> rows.add("core." + part));
    assertThat(rows).allSatisfy(room -> assertThat(architecture).contains("| `" + room + "` |"));
  }

  /** The areas of the files. */
  private Set<String> rooms() {
    return names(files.stream(), 0);
  }

  /** The parts of the core that the story enters. */
  private Set<String> coreParts() {
    return names(files.stream().filter(file -> file.startsWith("core/")), 1);
  }

  private static Set<String> names(Stream<String> files, int depth) {
    return files
        .map(file -> file.split("/", -1)[depth])
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static String read(Path path) {
    try {
      return Files.readString(path);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}

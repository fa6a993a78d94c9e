package dev.sluice.architecture;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;

/** The program's classes without those of its tests, read once for all tests of their structure. */
public final class ProjectClasses {

  /** All of them; their reading takes a minute. */
  public static final JavaClasses ALL =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          // Tests of other modules come in a jar, which Maven names so.
          .withImportOption(location -> !location.contains("-tests.jar"))
          .importPackages("dev.sluice");

  private ProjectClasses() {}
}

/** What an import decides about objects. */
@NullMarked
package dev.sluice.jobs.importer;

import org.jspecify.annotations.NullMarked;

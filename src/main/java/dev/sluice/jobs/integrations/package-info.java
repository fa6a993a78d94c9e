/** The list of all kinds of jobs. To add a kind, see the page "Adding a kind of job". */
@NullMarked
package dev.sluice.jobs.integrations;

import org.jspecify.annotations.NullMarked;

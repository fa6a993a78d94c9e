/**
 * Where a job may go among worker clusters: limits that it carries as annotations, read and
 * applied. Annotations and labels may enter. Values leave, and what is wrong with an annotation.
 */
@NullMarked
package dev.sluice.api.placement;

import org.jspecify.annotations.NullMarked;

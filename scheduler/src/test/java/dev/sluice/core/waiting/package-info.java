/**
 * Tests of which inadmissible Workloads are evaluated after a release. Small trees with
 * inadmissible classes may enter. Nothing leaves.
 */
@NullMarked
package dev.sluice.core.waiting;

import org.jspecify.annotations.NullMarked;

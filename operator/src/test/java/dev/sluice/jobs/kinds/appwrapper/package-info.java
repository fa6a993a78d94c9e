/** Tests of AppWrappers, from their YAML and on a control plane. */
@NullMarked
package dev.sluice.jobs.kinds.appwrapper;

import org.jspecify.annotations.NullMarked;

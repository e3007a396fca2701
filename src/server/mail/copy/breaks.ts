/**
 * Some servers hang up at a message each time. One at which connections broke so often among others is asked for alone,
 * after all others; and so often alone: it is left out.
 */
export const [BREAKS_TOGETHER, BREAKS_ALONE] = [2, 2];

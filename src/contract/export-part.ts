/** The most mail in one export file, in octets before compression. It keeps files below the 4 GiB limit of FAT. */
export const EXPORT_PART_OCTETS = 4_000_000_000;

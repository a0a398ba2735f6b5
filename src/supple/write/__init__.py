"""Writers of files: solutions and motions, as .csv or .npz."""

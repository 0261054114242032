//! Machines without a library, and without a driver. OpenCL is loaded once for a process, so each of these
//! is a process of its own.

use std::process::Command;

use lanework_opencl::{Device, platforms};

/// What [`report`] prints in a process with this environment.
fn report_with(variable: &str, value: &std::path::Path) -> String {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "missing::report", "--ignored", "--nocapture"])
        .env(variable, value)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
#[ignore = "run by the other tests, in an environment that they prepare"]
fn report() {
    println!("all: {}", platforms().unwrap_err());
    println!("first: {}", Device::find(0, 0).unwrap_err());
}

#[test]
fn a_missing_library_is_said_to_be_missing() {
    let folder = tempfile::tempdir().unwrap();
    // The loader takes the first file of the name, and this one is no library.
    std::fs::write(folder.path().join("libOpenCL.so.1"), "no library").unwrap();
    let report = report_with("LD_LIBRARY_PATH", folder.path());
    for who in ["all", "first"] {
        assert!(
            report.contains(&format!("{who}: no OpenCL library: ")),
            "{report}"
        );
    }
    assert!(report.contains("libOpenCL.so.1"), "{report}");
    assert!(report.contains("hint: install"), "{report}");
}

#[test]
fn a_library_without_a_driver_is_no_platform() {
    // Without a device there may be no library either, and then the other test says all there is to say.
    let Some(_) = super::device() else { return };
    let folder = tempfile::tempdir().unwrap();
    let report = report_with("OCL_ICD_VENDORS", folder.path());
    for who in ["all", "first"] {
        assert!(
            report.contains(&format!("{who}: no OpenCL platform\n")),
            "{report}"
        );
    }
}

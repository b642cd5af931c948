//! Opens the database of its first argument with the options of its second, fills and compacts it,
//! and keeps it open until its input ends.

use std::env;
use std::error::Error;
use std::io::{self, Read};

use rocksdb::{DB, Options};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().collect();
    let mut base = Options::default();
    base.create_if_missing(true);
    let options = base.get_options_from_string(&arguments[2])?;
    let database = DB::open(&options, &arguments[1])?;
    for key in 0..1000 {
        database.put(format!("key {key}"), "value")?;
    }
    database.compact_range(None::<&[u8]>, None::<&[u8]>);
    println!("OK");
    io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}
